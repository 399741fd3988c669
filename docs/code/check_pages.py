"""Open all built pages in Chromium, wide and narrow, and list what is wrong; `make check-pages` runs this.

A page must not be wider than the window, nor report an error; tables fit into 1280 px, code is no wider than
the text, what scrolls has a hint, text in drawings can be read, links lead somewhere, and the contents of the
page are visible. The search must find the expected page first.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from itertools import chain
from pathlib import Path
from threading import Thread
from urllib.parse import quote, unquote

from playwright.sync_api import Page, sync_playwright

BUILT = Path(__file__).parents[2] / "build" / "docs"
SCRIPT = Path(__file__).with_suffix(".js")
CHROMIUM = "/usr/bin/chromium"
WIDE, NARROW, HEIGHT = 1280, 400, 900  # px
FIRST = {  # what people search, and the title of the page to find first
    "mass matrix": "treefactor.crba",
    "crba": "treefactor.crba",
    "joint-space inertia": "treefactor.crba",
    "inverse dynamics": "treefactor.rnea",
    "rnea": "treefactor.rnea",
    "forward dynamics": "treefactor.forward_dynamics",
    "aba": "treefactor.aba",
    "articulated body": "treefactor.aba",
    "nle": "treefactor.bias",
    "nonLinearEffects": "treefactor.bias",
    "coriolis": "treefactor.coriolis_matrix",
    "gravity": "treefactor.generalized_gravity",
    "gravity compensation": "treefactor.generalized_gravity",
    "forward kinematics": "treefactor.frame_placement",
    "framesForwardKinematics": "treefactor.frame_placement",
    "jacobian": "treefactor.frame_jacobian",
    "center of mass": "treefactor.center_of_mass",
    "centroidal momentum": "treefactor.centroidal_momentum",
    "integrate": "treefactor.integrate",
    "simulation": "treefactor.step",
    "inverse kinematics": "treefactor.control.inverse_kinematics",
    "mpc": "treefactor.control.SamplingController",
    "trajectory optimization": "treefactor.control.ilqr",
    "cholesky": "treefactor.factor",
    "urdf": "treefactor.Model",
    "identification": "treefactor.Identification",
    "regressor": "treefactor.regressor",
    "contact simulation": "treefactor.constraints.Stepper",
    "code generation": "treefactor.generate",
    "rpy": "treefactor.so3.from_rpy",
    "operational space": "treefactor.operational_space",
    "PyTorch": "PyTorch",
    "GPU": "Generate a kernel",
}


class Quiet(SimpleHTTPRequestHandler):
    """Handler of requests that prints nothing."""

    def log_message(self, *_):
        """Print nothing."""


class Checker:
    """Browser that opens the pages of a folder and keeps their links and places for the end.

    Parameters
    ----------
    page : Page
        Of Playwright.
    site : str
        Address of the folder.
    pictures : Path or None
        Folder for a picture of each page at both widths.
    """

    def __init__(self, page: Page, site: str, pictures: Path | None):
        self.page, self.site, self.pictures = page, site, pictures
        self.links: dict[str, set[str]] = {}
        self.places: dict[str, set[str]] = {}
        self.errors: list[str] = []
        page.route("**/favicon.ico", lambda route: route.fulfill(status=204))
        page.on("console", self._note_error)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("request", self._note_foreign)
        page.on("response", self._note_missing)

    def _note_error(self, line) -> None:
        if line.type == "error" and not line.text.startswith("Failed to load"):  # see _note_missing
            self.errors.append(line.text)

    def _note_foreign(self, request) -> None:
        if not request.url.startswith((self.site, "data:")):
            self.errors.append(f"loads {request.url}")

    def _note_missing(self, response) -> None:
        if response.status >= 400:
            self.errors.append(f"lacks {response.url.removeprefix(self.site)}")

    def problems(self, path: str) -> Iterator[str]:
        """Yield what is wrong with a page."""
        self.errors.clear()
        self.page.set_viewport_size({"width": WIDE, "height": HEIGHT})
        self.page.goto(f"{self.site}{path}")
        if not self.page.query_selector("article"):
            return  # written by treefactor, in its own style
        self.page.add_script_tag(path=SCRIPT)
        self.links[path] = set(self.page.evaluate("checks.links()"))
        self.places[path] = set(self.page.evaluate("checks.places()"))
        for width in (WIDE, NARROW):
            self.page.set_viewport_size({"width": width, "height": HEIGHT})
            calls = "checks.widths", "checks.contents", "checks.images"
            problems = chain.from_iterable(self.page.evaluate(call, width == WIDE) for call in calls)
            yield from (f"{width} px: {problem}" for problem in problems)
            if self.pictures:
                name = f"{path.removesuffix('.html').replace('/', '-')}-{width}.png"
                self.page.screenshot(path=self.pictures / name, full_page=True)
        yield from self.errors

    def broken_links(self, built: Path) -> Iterator[str]:
        """Yield links of the opened pages to pages or places that there are not."""
        for path, links in self.links.items():
            for link in sorted(link for link in links if link.startswith(self.site)):
                target, _, place = unquote(link.removeprefix(self.site)).partition("#")
                target = target.partition("?")[0] or "index.html"
                if not (built / target).is_file():
                    yield f"{path}: a link to {target}, which is not there"
                elif place and target in self.places and place not in self.places[target]:
                    yield f"{path}: a link to {target}#{place}, a place which is not there"

    def first_hit(self, words: str) -> str:
        """Return the title of what the search finds first."""
        self.page.goto(f"{self.site}search.html?q={quote(words)}")
        self.page.wait_for_selector(".search-summary:not(:empty)")
        hit = self.page.query_selector("#search-results li a")
        return hit.inner_text() if hit else "nothing"


def problems(page: Page, site: str, options: argparse.Namespace) -> Iterator[str]:
    """Yield what is wrong with the pages that are named, or with all of them and the search."""
    checker = Checker(page, site, options.pictures)
    everything = sorted(str(path.relative_to(options.built)) for path in options.built.rglob("*.html"))
    for path in options.page or everything:
        yield from (f"{path}: {problem}" for problem in checker.problems(path))
    if options.page:
        return
    yield from checker.broken_links(options.built)
    for words, title in FIRST.items():
        if (hit := checker.first_hit(words)) != title:
            yield f"search of “{words}”: {hit} instead of {title}"


def main() -> None:
    """Print what is wrong; exit with 1 if there is something."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("page", nargs="*", help="such as faq.html; by default all pages and the search")
    parser.add_argument("--built", type=Path, default=BUILT, help="folder of the built pages")
    parser.add_argument("--pictures", type=Path, help="folder for a picture of each page at both widths")
    options = parser.parse_args()
    if options.pictures:
        options.pictures.mkdir(parents=True, exist_ok=True)
    server = ThreadingHTTPServer(("localhost", 0), partial(Quiet, directory=options.built))
    Thread(target=server.serve_forever, daemon=True).start()
    count = 0
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM)
        site = f"http://localhost:{server.server_port}/"
        for count, problem in enumerate(problems(browser.new_page(), site, options), 1):  # noqa: B007
            print(problem, flush=True)
        browser.close()
    print(f"{count} problems")
    sys.exit(bool(count))


if __name__ == "__main__":
    main()
