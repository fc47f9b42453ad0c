"""Take the pictures of pages that the documents show: docs/pictures/*.png, each under 300 kB.

python docs/take_screenshots.py RUNS [--width 1200]

RUNS holds the folders attack, spatial, mad and trained, as docs/write_examples.py names them:
the commands of docs/examples.md, run in one folder, and segstress report runs/trained make them.
Needs playwright, Chromium and pillow.
"""

from __future__ import annotations

import argparse
import io
import shutil
from pathlib import Path
from typing import Any

from PIL import Image

HERE = Path(__file__).parent / "pictures"
MOST = 300_000  # bytes of a picture
PAGES = {  # picture -> page of the run, and what must be in view
    "study": ("attack/report/index.html", "h2"),
    "gallery": ("attack/report/index.html", "#gallery"),
    "spatial": ("spatial/spatial/index.html", "h2"),
    "competition": ("mad/report/index.html", "text=Aggressiveness >> nth=-1"),
    "training": ("trained/report/index.html", "h2"),
}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("runs", type=Path)
    parser.add_argument("--width", type=int, default=1200)
    asked = parser.parse_args()
    from playwright.sync_api import sync_playwright

    HERE.mkdir(exist_ok=True)
    with sync_playwright() as play:
        path = shutil.which("chromium") or shutil.which("chromium-browser")
        browser = play.chromium.launch(executable_path=path, args=["--no-sandbox"])
        for name, (page, sight) in PAGES.items():
            shown = browser.new_page(viewport={"width": asked.width, "height": 760})
            shown.goto((asked.runs / page).resolve().as_uri())
            take(shown, sight, HERE / f"{name}.png")
            shown.close()
        browser.close()


def take(shown: Any, sight: str, path: Path) -> None:
    """Write what is seen, in as many colours as fit."""
    shown.locator(sight).first.evaluate("element => element.scrollIntoView()")
    shown.wait_for_timeout(500)  # pictures are loaded when they are seen
    picture = Image.open(io.BytesIO(shown.screenshot())).convert("RGB")
    for colours in (256, 128, 64, 32):
        file = io.BytesIO()
        picture.quantize(colours, dither=Image.Dither.NONE).save(file, "png", optimize=True)
        if file.tell() <= MOST:
            path.write_bytes(file.getvalue())
            return
    raise SystemExit(f"{path.name}: {file.tell()} bytes, expected at most {MOST}")


if __name__ == "__main__":
    main()
