"""Draws the pictures of docs/pictures: python tools/trace_pictures.py [--browser chromium] [--out docs/pictures].

The pictures are SVGs of figures of `cuscope.figures`, as a browser without a window shows them on a light page
(NAME.png) and on a dark one (NAME-dark.png, which the site shows in its dark theme). With other versions of the browser
or other fonts the files differ. The script needs Chromium, and Pillow, which comes with Matplotlib.
"""

import argparse
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from PIL import Image

from cuscope import figures

ROOT = Path(__file__).resolve().parent.parent
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
PICTURES = (  # file, figure, sections
    ("trace-one-stream", lambda: figures.one_stream("h200", chunks=4), "streams"),
    ("trace-staggered", lambda: figures.depth_first("h200", chunks=4, streams=4), "streams"),
    ("trace-one-copy-engine", lambda: figures.depth_first("c1060"), ("streams", "engines")),
    ("trace-late-signal", lambda: figures.breadth_first("fermi"), None),
)
SCALE = 1.5  # pixels of the file in a pixel of the picture


def photograph(browser: str, picture: str, theme: str, path: Path) -> None:
    width, height = map(int, re.findall(r'(?:width|height)="(\d+)"', picture)[:2])
    page = f'<body data-jp-theme-light="{str(theme == "light").lower()}" style="margin:0">{picture}</body>'
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "page.html"
        source.write_text(f"<!doctype html><meta charset=utf-8>{page}", encoding="utf-8")
        options = ("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars")
        # A low window would be drawn in part only.
        size = (f"--window-size={width},{height + 400}", f"--force-device-scale-factor={SCALE}")
        command = [
            browser,
            *options,
            *size,
            f"--user-data-dir={folder}",
            f"--screenshot={path}",
            source.as_uri(),
        ]
        subprocess.run(command, check=True, stderr=subprocess.DEVNULL, timeout=120)
    with Image.open(path) as image:  # few colours make a file a third as large
        picture_only = image.crop((0, 0, round(width * SCALE), round(height * SCALE)))
        picture_only.convert("RGB").quantize(96, dither=Image.Dither.NONE).save(path, optimize=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="Draws the pictures of docs/pictures.")
    parser.add_argument("--browser", default=next(filter(None, map(shutil.which, BROWSERS)), None))
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "pictures")
    options = parser.parse_args()
    if options.browser is None:
        parser.error(f"there is no browser; --browser names one (looked for {', '.join(BROWSERS)})")
    options.out.mkdir(parents=True, exist_ok=True)
    for name, figure, show in PICTURES:
        picture = figure().svg(show)
        for theme, ending in (("light", ""), ("dark", "-dark")):
            path = options.out.resolve() / f"{name}{ending}.png"
            photograph(options.browser, picture, theme, path)
            print(f"{path.stat().st_size:7,} bytes  {path}")


if __name__ == "__main__":
    main()
