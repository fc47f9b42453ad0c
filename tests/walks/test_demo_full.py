"""Every claim from its runs to the page, on networks that were never trained: nothing may break, whatever comes out."""

from __future__ import annotations

import csv
import html
from contextlib import nullcontext
from pathlib import Path

import pytest

from segstress.core import BadInput
from segstress.demo import demonstration as demo
from segstress.demo.claims import claims
from segstress.demo.claims.evidence import Evaluation
from segstress.demo.claims.radii import SEARCHES
from segstress.demo.claims.runs import GRAINLESS, MATCHED, NORMAL, OTHERS, seeded
from segstress.demo.zoo import collect, document
from segstress.evaluation import evaluate
from segstress.models import models, save
from segstress.models.compact import zoo
from segstress.runtime import Progress, RunOptions, Store

pytestmark = pytest.mark.slow
ALONE = RunOptions(workers=1)
SHORT = {"battery": None, "perturbations": ["pgd?steps=2", "segpgd?steps=2", "cospgd?steps=2"]}
RECIPES = {"50": "pgd-at", "100": "pgd-at?share=1", "ddc": "ddc-at"}


def make_zoo(folder: Path) -> Path:
    """Networks with first weights only, under the names of the zoo."""
    normal = [model for name in NORMAL for model in seeded(name)]
    for seed, name in enumerate(dict.fromkeys([*MATCHED, *OTHERS, *GRAINLESS, *normal])):
        kind = name.partition("-")[0].replace("matched", "cnn")
        architecture = models.spec(models.build(f"compact:{kind}?seed={seed}"))
        recipe = next((RECIPES[part] for part in name.split("-") if part in RECIPES), "normal")
        card = {"architecture": architecture, "plan": {"recipe": recipe, "seed": 0}, "command": "none"}
        save(models.build(architecture).network(), folder / f"{name}.safetensors", card)
    return folder


def shorter(plan: dict) -> dict:
    """A plan with fewer steps."""
    if plan.get("battery") == SEARCHES:
        searches = [{"attack": name, "steps": 3, "enough": 0.99} for name in ("alma-prox", "fmn", "dag")]
        return {**plan, "battery": None, "perturbations": searches}
    if "battery" in plan:
        return {**plan, **SHORT}
    steps = [{**spec, "steps": 3} if "attack" in spec else spec for spec in plan.get("perturbations", [])]
    return {**plan, "perturbations": steps} if "perturbations" in plan and "attack" in str(steps) else plan


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """The folder of all runs, as small as they can be."""
    folder = tmp_path_factory.mktemp("demo")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("segstress.models.compact.ZOO", make_zoo(tmp_path_factory.mktemp("zoo")))
        for need in demo.needs():
            if isinstance(need, Evaluation):
                evaluate(shorter(dict(need.asked(2))), folder / need.name, ALONE)
            else:
                need.carry_out(folder / need.name, 2, ALONE, Progress())
        yield folder


def test_every_claim_is_answered_with_files(run):
    found = demo.findings(run)
    page = demo.report(run, found)
    text = html.unescape(page.read_text())
    assert text.index(demo.HISTORY) < text.index(found[0].claim)
    for finding in found:
        assert finding.claim in text
        assert finding.answer.checks
        assert all(check.measured in text for check in finding.answer.checks)
        for table in finding.answer.tables:
            rows = list(csv.reader((page.parent / "tables" / f"{finding.name}-{table.name}.csv").open()))
            assert len(rows) == 1 + len(table.rows)
        for drawing in finding.answer.drawings:
            for suffix in ("svg", "pdf"):
                assert (page.parent / "figures" / f"{finding.name}-{drawing.name}.{suffix}").stat().st_size


def test_a_need_leads_to_its_own_report(run):
    need = next(need for need in demo.needs() if need.name == "minimal")
    need.write(run / need.name)
    assert (run / need.name / need.page).is_file()


def test_findings_need_the_stores_alone(run, monkeypatch):
    monkeypatch.setattr("segstress.models.compact.Compact.network", lambda self: pytest.fail("a model was loaded"))
    assert [finding.name for finding in demo.findings(run)] == claims.names()


def test_what_is_there_is_not_done_again(run, monkeypatch):
    monkeypatch.setattr(
        "segstress.evaluation.worker.Worker.__call__", lambda self, unit: pytest.fail("an image was answered")
    )
    clean = next(need for need in demo.needs() if need.name == "clean")
    monkeypatch.setattr(demo, "needs", lambda: [clean])
    assert demo.examine_claims(run, 2, ALONE, lambda name: nullcontext(Progress())) == ()


def test_another_number_of_images_is_another_folder(run):
    clean = next(need for need in demo.needs() if need.name == "clean")
    before = len(Store(run / "clean").cells())
    with pytest.raises(BadInput, match="holds another plan"):
        clean.carry_out(run / "clean", 3, ALONE, Progress())
    assert len(Store(run / "clean").cells()) == before


def test_figures_of_every_model_can_be_kept(run):
    results = collect(run, demo.findings(run), "none")
    assert set(results["models"]) == set(zoo())
    assert all(0 <= value <= 1 for entry in results["models"].values() for value in entry["robust"].get("cmiou", []))
    assert all(entry["robust"] for entry in results["models"].values())
    assert all(finding["claim"] in document(results) for finding in results["findings"])
