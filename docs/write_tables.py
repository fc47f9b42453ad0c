"""Write the pages of docs/ that the registries and settings themselves tell: a test holds them current.

python docs/write_tables.py          # --check only names the pages that are not current, and leaves with 1
"""

from __future__ import annotations

import dataclasses
import inspect
import json
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import segstress
from segstress.attacks import attacks
from segstress.contests.plan import Contest
from segstress.core import BALLS, BadInput
from segstress.corruptions import corruptions
from segstress.corruptions.suites import SUITES
from segstress.fitting.plan import TrainingPlan
from segstress.metrics import metrics
from segstress.planning.battery_files import Battery, batteries, battery, local_batteries
from segstress.planning.plan import Plan
from segstress.planning.schema import schema_of

HERE = Path(__file__).parent
MADE = "\n*Written by `python docs/write_tables.py` from the registries; do not edit.*\n"
ATTACKS = """\
A name that a paper gave is that paper's algorithm. Ours are `-auto`, `annealed-`, `progressive-`,
`-search`, `padam`, `padam-rp`, `pgd-rp`, `apgd-margin`, and `pgd` where nothing is set. Passes are those of an attack's
own loop, for one image at its default settings. Which to take: [choose.md](choose.md).
"""
BATTERIES = """## Batteries

How they are put together and spared: [batteries.md](batteries.md).
"""
PLANS = """\
`segstress init` writes a commented plan, `segstress plan FILE` says what it costs, `segstress run FILE` carries it out.
`segstress schema plan` prints the same as JSON schema: give it to your editor and it checks while you type.

```yaml
models: ['compact:cnn-normal']
data: ['shapes:test']
battery: quick
eps: 4/255,8/255
limit: 24
```

A spec is `kind:rest?key=value&key=value` or a mapping with `kind`; `segstress list models` (datasets, attacks ...)
names the kinds.
"""
API = """\
`import segstress` offers these names, and they alone are promised to stay ([what is stable](stability.md)). How they
are used: [python](python.md).
"""
PAPER = re.compile(r"arXiv:\d{4}\.\d{4,5}(?:v\d)?|AAAI \d{4}|docs/\w+\.md")


def table(heads: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """Return a Markdown table."""
    heads = list(heads)
    lines = [heads, ["---"] * len(heads), *([str(cell).replace("|", "\\|") for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def attack_row(name: str) -> list[str]:
    """Return what an attack needs, seeks and costs."""
    about, make = attacks.about(name), attacks.get(name)
    try:
        built = attacks.build(name)
        forwards, backwards = built.passes()
        cost, knows = f"{forwards} + {backwards}", "gradients" if backwards else "outputs only"
    except BadInput:  # a setting without a default: the model that deltas are taken from
        cost, knows = "of its source", "another model"
    seeks = "most damage" if make.seeks == "damage" else "smallest change"
    papers = ", ".join(dict.fromkeys(PAPER.findall(about)))
    norms = ", ".join(getattr(make, "norms", BALLS))
    return [f"`{name}`", seeks, knows, norms, cost, papers, about.rstrip(".")]


def attacks_page() -> str:
    """Return the table of all attacks, and of the batteries made of them."""
    heads = ("attack", "seeks", "knows of the model", "norms", "forwards + backwards", "paper", "what it is")
    lists = [(f"`{name}` v{battery(name).version}", "attack", battery(name).about) for name in batteries()]
    lists += [(f"`{name}`", about["command"], about["about"]) for name, about in local_batteries().items()]
    rows = table(heads, map(attack_row, attacks.names()))
    return (
        f"# Attacks\n{MADE}\n{ATTACKS}\n{rows}\n{BATTERIES}\n{table(('battery', 'of segstress', 'what it is'), lists)}"
    )


def corruptions_page() -> str:
    """Return the table of corruptions, and of the suites made of them."""
    rows = (
        [f"`{name}`", ", ".join(suite for suite, members in SUITES.items() if name in members), corruptions.about(name)]
        for name in corruptions.names()
    )
    return (
        "# Corruptions\n"
        + MADE
        + "\n`segstress spatial --corruption NAME --severity 3`, `segstress corrupt` to write the "
        "images, `segstress.corrupt(name, images, severity)` in Python. Severities go from 0 to 5, fractions "
        "too ([what lies between two whole ones](spatial.md#corruptions)).\n\n"
        + table(("corruption", "suites", "what it is"), rows)
    )


def metrics_page() -> str:
    """Return the table of metrics."""
    rows = []
    for name in metrics.declared():
        declared = metrics.get(name).declaration
        title, _, words = metrics.about(name).partition(":")
        choice = "sought for the whole set" if declared.pooled else "image by image"
        rows.append([f"`{name}`", title, ", ".join(declared.zones), declared.goal, choice, words.strip() or title])
    heads = ("figure", "title", "shown in", "reads the result for", "worst case", "what it is")
    return (
        "# Metrics\n"
        + MADE
        + "\nA figure in the zone foreground is called `<figure>_foreground`. What the numbers mean: "
        "[numbers.md](numbers.md).\n\n" + table(heads, rows)
    )


def kind(schema: dict[str, Any]) -> str:
    """Return what a key may hold, in words."""
    if "$ref" in schema:
        return f"[{schema['$ref'].rpartition('/')[2]}](#{schema['$ref'].rpartition('/')[2].lower()})"
    if "anyOf" in schema:
        words = [word for choice in schema["anyOf"] for word in kind(choice).split(" or ")]
        return " or ".join(dict.fromkeys(words))
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    words = {"string": "text", "object": "mapping", "null": "nothing", "boolean": "true or false"}
    name = schema.get("type", "anything")
    if name == "array" and "items" in schema:
        return f"list of ({kind(schema['items']).replace(' or ', ' / ')})"
    return words.get(name, name)


def fields(title: str, schema: dict[str, Any]) -> str:
    """Return the keys of some settings as a table."""
    needed = schema.get("required", ())
    rows = [
        [
            f"`{name}`",
            kind(about),
            "needed" if name in needed else f"`{json.dumps(about['default'])}`" if "default" in about else "empty",
            about.get("description", ""),
        ]
        for name, about in schema["properties"].items()
    ]
    words = schema.get("description", "").partition("\n")[0]
    return f"\n## {title}\n\n{words}\n\n" + table(("key", "holds", "default", "what it is"), rows)


def plans_page() -> str:
    """Return the keys of every sort of plan."""
    sorts = {"Plan": Plan, "Battery": Battery, "Training": TrainingPlan, "Contest": Contest}
    schemas = {title: schema_of(settings) for title, settings in sorts.items()}
    parts = {name: part for schema in schemas.values() for name, part in schema.get("$defs", {}).items()}
    keys = [fields(title, schema) for title, schema in (*schemas.items(), *sorted(parts.items()))]
    return f"# Plans, field by field\n{MADE}\n{PLANS}{''.join(keys)}"


def signature(name: str, function: Any) -> str:
    """Return a call with its arguments, one in a line where they are many."""
    shown = str(inspect.signature(function))
    shown = re.sub(r"(?:\w+\.)+(\w+)", r"\1", shown.replace("'", ""))
    if len(name + shown) <= 100:
        return f"{name}{shown}"
    arguments = [str(part) for part in inspect.signature(function).parameters.values()]
    plain = (re.sub(r"(?:\w+\.)+(\w+)", r"\1", argument.replace("'", "")) for argument in arguments)
    returned = shown.rpartition(" -> ")[2]
    return f"{name}(\n" + "".join(f"    {argument},\n" for argument in plain) + f") -> {returned}"


def members(made: type) -> str:
    """Return what a result offers: its attributes and methods, each with its line."""
    fields = (
        {field.name: str(field.type) for field in dataclasses.fields(made)} if dataclasses.is_dataclass(made) else {}
    )
    rows = [[f"`{name}`", f"`{kind}`", ""] for name, kind in fields.items() if not name.startswith("_")]
    for name, member in inspect.getmembers(made):
        if name.startswith("_") or name in fields or not (inspect.isfunction(member) or isinstance(member, property)):
            continue
        about = (inspect.getdoc(member) or "").partition("\n")[0]
        arguments = str(inspect.signature(member)) if inspect.isfunction(member) else ""
        call = name + arguments.replace("(self, ", "(").replace("(self)", "()")
        rows.append([f"`{call}`".replace("'", ""), "", about])
    return table(("name", "type", "what it is"), rows)


def api_page() -> str:
    """Return the public names with their docstrings."""
    parts = []
    for name in sorted(name for name in segstress.__all__ if not name.startswith("_")):
        item, words = getattr(segstress, name), inspect.getdoc(getattr(segstress, name)) or ""
        code = f"```text\n{signature(name, item)}\n```\n\n" if inspect.isfunction(item) else ""
        parts.append(f"\n## {name}\n\n{code}{words}\n" + (f"\n{members(item)}" if inspect.isclass(item) else ""))
    return f"# The public API\n{MADE}\n{API}{''.join(parts)}"


PAGES = {
    "api.md": api_page,
    "attacks.md": attacks_page,
    "corruptions.md": corruptions_page,
    "metrics.md": metrics_page,
    "plans.md": plans_page,
}


def main() -> None:
    """Write the pages, or say which differ."""
    old = [name for name, page in PAGES.items() if not (HERE / name).exists() or (HERE / name).read_text() != page()]
    if "--check" in sys.argv:
        sys.exit(f"not current: {', '.join(old)}; python docs/write_tables.py writes them" if old else 0)
    for name in old:
        (HERE / name).write_text(PAGES[name](), encoding="utf-8")


if __name__ == "__main__":
    main()
