"""How a report of many images feels: its size, first paint, and how long a filter, a sort and an image take.

Command: python bench/page.py [--images 2000] [--keep FOLDER]. Needs playwright and Chromium. The study is made up
(tests/rooms/reports/sample_study.py), its pictures are real files. Figures are of this machine, with whatever else it
did; the browser starts anew for each, and the median of so many starts is printed.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from segstress.core import import_source
from segstress.reports.study.report import write
from segstress.results.study import Study

SAMPLE = Path(__file__).parents[1] / "tests" / "rooms" / "reports" / "sample_study.py"
STARTS = 5
PAINT = "performance.getEntriesByType('paint').find(entry => entry.name === 'first-contentful-paint').startTime"
LOADED = "performance.getEntriesByType('navigation')[0].domComplete"
# Time from the change to the next frame that shows it.
CHANGE = """([name, value]) => new Promise(resolve => {
  const field = document.querySelector(`#gallery [name=${name}]`), begun = performance.now();
  if (field.type === "checkbox") field.checked = value; else field.value = value;
  field.dispatchEvent(new Event("input", { bubbles: true }));
  requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - begun)));
})"""
OPEN = """() => new Promise(resolve => {
  const begun = performance.now();
  document.querySelector(".card").click();
  requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - begun)));
})"""
ACTIONS = {"filter by points lost": ("drop", "40"), "sort by image": ("sort", "id"), "all of them again": ("drop", "")}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--images", type=int, default=2000)
    parser.add_argument("--keep", type=Path, help="folder for the report; else it is thrown away")
    asked = parser.parse_args()
    folder = asked.keep or Path(tempfile.mkdtemp())
    begun = time.process_time()
    page = write([study(asked.images)], folder, f"{asked.images} images")
    print(f"written in {time.process_time() - begun:.1f} s of CPU")
    sizes = {path.name: path.stat().st_size / 2**20 for path in (page, folder / "gallery" / "catalogue.js")}
    files = sum(1 for _ in (folder / "gallery").glob("*.png"))
    print(", ".join(f"{name} {size:.2f} MiB" for name, size in sizes.items()) + f", {files} pictures")
    for name, milliseconds in measure(page).items():
        ends = f"from {min(milliseconds):.0f} to {max(milliseconds):.0f}"
        print(f"{name}: {statistics.median(milliseconds):.0f} ms ({ends})")
    if asked.keep is None:
        shutil.rmtree(folder)


def study(images: int) -> Study:
    """A study of one attack with pictures of every image."""
    sample = import_source(str(SAMPLE))
    sample.STRENGTHS = {"pgd 8/255": 0.82}
    made = sample.study(images=images)
    few = sample.study(images=24)  # as many scenes as need be drawn; the files of all images are real
    frames = [replace(few.frames[n % len(few.frames)], image_id=id_) for n, id_ in enumerate(made.ids)]
    return replace(made, frames=tuple(frames))


def measure(page: Path) -> dict[str, list[float]]:
    """Open the page several times."""
    from playwright.sync_api import sync_playwright

    found: dict[str, list[float]] = {}
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    with sync_playwright() as play:
        for _ in range(STARTS):
            browser = play.chromium.launch(executable_path=path, args=["--no-sandbox"])
            for name, took in visit(browser.new_page(), page).items():
                found.setdefault(name, []).append(took)
            browser.close()
    return found


def visit(shown: Any, page: Path) -> dict[str, float]:
    """Open the page once, and use it."""
    shown.goto(page.as_uri())
    shown.wait_for_function("document.querySelector('#gallery-count').textContent")
    took = {"first paint": shown.evaluate(PAINT), "whole page": shown.evaluate(LOADED)}
    shown.locator("#gallery").scroll_into_view_if_needed()
    for name, change in ACTIONS.items():
        took[name] = shown.evaluate(CHANGE, list(change))
    took["open an image"] = shown.evaluate(OPEN)
    return took


if __name__ == "__main__":
    main()
