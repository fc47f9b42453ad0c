"""Processes that share a run's folder, or have one each that is joined later: the same bytes as one process alone."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml
from tests.conftest import net
from tests.tables import tables

from segstress.core import BadInput
from segstress.evaluation import evaluate
from segstress.evaluation.merge import merge
from segstress.results.run import Run
from segstress.results.seal import read_seal
from segstress.runtime import RunOptions, Shard, read_json, write_json
from segstress.runtime.holding import LEASES
from segstress.runtime.leases import Leases
from segstress.runtime.sharing import FILE, share

PLAN = {
    "models": [net("tiny")],
    "data": ["shapes:test?count=9&size=24"],
    "perturbations": ["pgd?steps=3", "segpgd?steps=3"],
    "eps": "8/255",
}


def part(text: str, **others) -> RunOptions:
    return RunOptions(workers=1, shard_size=1, part=text, **others)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("undisturbed") / "run"
    evaluate(PLAN, folder, RunOptions(workers=1))
    return folder


def process(folder: Path, text: str) -> subprocess.Popen:
    """One part in a process of its own, whose heart beats and stops quickly."""
    script = (
        "from segstress.runtime import RunOptions, leases; leases.BEAT, leases.EXPIRY = 0.2, 4.0\n"
        "from segstress.evaluation import evaluate\n"
        f"done = evaluate({PLAN!r}, {str(folder)!r}, RunOptions(workers=1, shard_size=1, part={text!r}))\n"
        "print(done.left_to or 'sealed')"
    )
    root = Path(__file__).parents[2]
    return subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, cwd=root)


def test_parts_after_one_another_make_one_run(undisturbed, tmp_path):
    first = evaluate(PLAN, tmp_path / "run", part("1/3"))
    assert "parts that have not begun: 2/3, 3/3" in first.left_to
    assert not (tmp_path / "run" / "seal.json").exists()
    evaluate(PLAN, tmp_path / "run", part("3/3"))
    assert not evaluate(PLAN, tmp_path / "run", part("2/3")).left_to
    assert tables(tmp_path / "run") == tables(undisturbed)
    assert not (tmp_path / "run" / LEASES).exists()
    shares = [len(path.read_text().splitlines()) - 1 for path in sorted((tmp_path / "run").glob("timings-*.csv"))]
    assert shares == [12, 12, 3], "three batches, of 4, 4 and 1 images, in each of three cells"


def test_parts_at_once_share_the_units_and_one_seals(undisturbed, tmp_path):
    processes = [process(tmp_path / "run", f"{number}/2") for number in (1, 2)]
    said = [process.communicate(timeout=300)[0].strip() for process in processes]
    assert said.count("sealed") == 1, said
    assert tables(tmp_path / "run") == tables(undisturbed)
    times = [line for path in (tmp_path / "run").glob("timings-*.csv") for line in path.read_text().splitlines()[1:]]
    assert len(times) == 27, "an image was answered twice"


@pytest.mark.slow
def test_what_a_killed_part_had_in_hand_is_done_by_another(undisturbed, tmp_path):
    doomed = process(tmp_path / "run", "1/2")
    while not list((tmp_path / "run").glob("cells/*pgd*/sums-*.json")) and doomed.poll() is None:
        time.sleep(0.01)
    other = process(tmp_path / "run", "2/2")
    while not list((tmp_path / "run").glob("leases/alive-*"))[1:] and doomed.poll() is None:
        time.sleep(0.01)
    doomed.send_signal(signal.SIGKILL)
    assert other.communicate(timeout=300)[0].strip()
    doomed.communicate()
    evaluate(PLAN, tmp_path / "run", RunOptions(workers=1))
    assert tables(tmp_path / "run") == tables(undisturbed)


def test_folders_of_parts_are_joined(undisturbed, tmp_path):
    for number in (1, 2):
        evaluate(PLAN, tmp_path / f"part-{number}", part(f"{number}/2"))
    assert merge([tmp_path / "part-1"], tmp_path / "half") > 0
    assert merge([tmp_path / "part-1", tmp_path / "part-2"], tmp_path / "whole") == 0
    assert tables(tmp_path / "whole") == tables(undisturbed)
    seals = [read_seal(Run(folder)) for folder in (tmp_path / "whole", undisturbed)]
    assert seals[0] == seals[1]
    evaluate(PLAN, tmp_path / "half", RunOptions(workers=1))
    assert tables(tmp_path / "half") == tables(undisturbed)


def test_what_does_not_belong_together_is_refused_by_name(undisturbed, tmp_path):
    other = evaluate({**PLAN, "eps": "4/255"}, tmp_path / "other", RunOptions(workers=1)).folder
    with pytest.raises(BadInput, match=r"different plans \(eps differ\)"):
        merge([undisturbed, other], tmp_path / "out")
    with pytest.raises(BadInput, match="is not empty"):
        merge([undisturbed], other)
    shutil.copytree(undisturbed, tmp_path / "changed")
    shard = next((tmp_path / "changed").glob("cells/*/counts-*.parquet"))
    shard.write_bytes(shard.read_bytes()[:-1])
    with pytest.raises(BadInput, match=f"{shard.name} changed"):
        merge([undisturbed, tmp_path / "changed"], tmp_path / "out")


def test_shards_of_equal_name_and_other_content_clash(tmp_path):
    for number in (1, 2):
        evaluate(PLAN, tmp_path / f"run-{number}", RunOptions(workers=1))
    run = Run(tmp_path / "run-2")
    cell = run.cells[0]
    stem = run.store.stems(cell)[0]
    table = run.store.shard(cell, "images", stem)
    rows = [{**row, "size": 1.0} for row in table.to_pylist()]
    run.store.add(cell, Shard(images=rows))
    for path in (*run.store.cell_folder(cell).glob(f"*-{stem}.zst"), run.store.cell_folder(cell) / "manifest.json"):
        path.unlink()
    with pytest.raises(BadInput, match="clashes with what another folder holds"):
        merge([tmp_path / "run-1", tmp_path / "run-2"], tmp_path / "out")


def test_alone_or_with_other_settings_a_shared_folder_is_closed(tmp_path):
    folder = tmp_path / "run"
    evaluate(PLAN, folder, part("1/2"))
    holder = Leases(folder / LEASES)
    with holder.beating(), pytest.raises(BadInput, match="in use by processes that share it by --part"):
        evaluate(PLAN, folder, RunOptions(workers=1))


def test_a_part_is_refused_beside_a_process_without_part(tmp_path):
    with share(tmp_path, ""):
        with pytest.raises(BadInput, match="in use by a process without --part"), share(tmp_path, "1/2"):
            pass
        heart = next((tmp_path / LEASES).iterdir())
        os.utime(heart, (0, 0))  # it sleeps, and has not let go of its lock
        with pytest.raises(BadInput, match="in use by a process without --part"), share(tmp_path, "1/2"):
            pass
        assert heart.exists()
    with share(tmp_path, "1/2"):
        pass
    assert not (tmp_path / LEASES).exists()


def test_a_process_without_part_that_was_killed_here_keeps_nobody_out(tmp_path):
    script = (
        "import os, signal; from pathlib import Path; from segstress.runtime.sharing import share\n"
        f"with share(Path({str(tmp_path)!r}), ''): os.kill(os.getpid(), signal.SIGKILL)"
    )
    for part in ("1/2", ""):
        subprocess.run([sys.executable, "-c", script], cwd=Path(__file__).parents[2], check=False)
        assert list((tmp_path / LEASES).glob("alive-sole-*"))
        with share(tmp_path, part):
            pass
        assert not (tmp_path / LEASES).exists()


def test_a_process_without_part_on_another_machine_is_believed_by_its_sign_of_life(tmp_path):
    elsewhere = Leases(tmp_path / LEASES, sole=True)
    elsewhere.owner = "sole-elsewhere-1-0"
    elsewhere._beat()
    with pytest.raises(BadInput, match=elsewhere.owner), share(tmp_path, "1/2"):
        pass
    os.utime(tmp_path / LEASES / f"alive-{elsewhere.owner}", (0, 0))
    with share(tmp_path, "1/2"):
        pass
    assert not (tmp_path / LEASES).exists()


def test_parts_that_were_started_unlike_each_other_are_refused(tmp_path):
    folder, leases = tmp_path / "run", Leases(tmp_path / "run" / LEASES)
    with leases.beating():
        with share(folder, "1/2") as sharing, sharing.turn():
            sharing.join("another plan")
            members = read_json(folder / LEASES / FILE)
            write_json(folder / LEASES / FILE, {**members, "members": {leases.owner: 1}})
        with pytest.raises(BadInput, match="started with another plan, --shard-size or number of parts"):
            evaluate(PLAN, folder, part("2/2"))
    assert not (folder / "plan.yaml").exists()


def test_errors_that_are_tried_again_do_not_keep_parts_from_ending(tmp_path):
    asked = {**PLAN, "models": [net("raising")], "perturbations": ["fgsm"]}
    for _ in range(2):
        parts = [evaluate(asked, tmp_path / "run", part(f"{number}/2", retry_errors=True)) for number in (1, 2)]
        assert parts[-1].errors
        assert not parts[-1].left_to


def test_an_audit_is_made_before_parts_go_their_ways(tmp_path):
    path = tmp_path / "battery.yaml"
    waves = ["pgd?steps=3", "segpgd?steps=3", "pgd-masked?steps=3"]
    path.write_text(yaml.safe_dump({"perturbations": waves, "audit": 0.1, "fewest": 3, "tolerance": 0.02}))
    asked = {**PLAN, "perturbations": [], "battery": str(path)}
    evaluate(asked, tmp_path / "one", RunOptions(workers=1))
    for number in (1, 2):
        evaluate(asked, tmp_path / "two", part(f"{number}/2"))
    assert tables(tmp_path / "two") == tables(tmp_path / "one")
