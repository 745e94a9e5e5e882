"""Take a picture of a report's page, for the README.

Needs Playwright and Chromium, as the tests of the page do: `make browser` installs the one.

Run: python dev/tools/report_picture.py
"""

import shutil
import sys
import tempfile
from pathlib import Path

import straightline as sl
from playwright.sync_api import sync_playwright
from straightline import report
from terminal_picture import MODEL

SIZE = {"width": 1120, "height": 1000}
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]


def main() -> None:
    """Write the picture into the docs."""
    chromium = shutil.which("chromium")
    if chromium is None:
        sys.exit("Chromium is needed: apt-get install chromium")
    outcome = sl.transform(sl.ir.parse(MODEL), values={"sr": 16000})
    docs = Path(__file__).parents[2] / "docs"
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as started:
        path = Path(folder) / "report.html"
        report.write(path, report.of_outcome(outcome, names=("vad.onnx", "flat.onnx")))
        page = started.chromium.launch(executable_path=chromium, args=FLAGS).new_page(viewport=SIZE)
        page.goto(path.as_uri())
        page.fill("#search", "mix")
        page.locator("#found button").first.click()
        page.evaluate(  # the list of what is found is shown while one searches
            "for (const id of ['found', 'count']) document.getElementById(id).hidden = true;"
            " scrollTo(0, 0); views.after.cy.fit(views.after.cy.nodes('.chosen'), 40)"
        )
        page.screenshot(path=docs / "report.png")


if __name__ == "__main__":
    main()
