"""The site of docs/: every page is in it, and the files outside docs/ are correct.

Building it needs the extra `docs`; without it only the pages' own tests run.
"""

import importlib.util
import re
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

import wfb_gym
from tests.support.pages import ROOT, page, place_of
from tests.support.scripts import run_python
from tests.web.browser import CHROMIUM

DOCS = ROOT / "docs"
PAGES = sorted(
    path.relative_to(DOCS).with_suffix("").as_posix()
    for suffix in ("md", "ipynb")
    for path in DOCS.rglob(f"*.{suffix}")
)


def test_every_page_is_in_the_nav_once() -> None:
    trees = [
        tree
        for path in DOCS.glob("*.md")
        for tree in re.findall(r"```\{toctree\}\n(.*?)```", path.read_text("utf-8"), re.DOTALL)
    ]
    entries = [line for tree in trees for line in tree.splitlines() if line and line[0] != ":"]
    twice = sorted({entry for entry in entries if entries.count(entry) > 1})
    assert not twice, f"pages in two toctrees: {', '.join(twice)}"
    for name in PAGES:
        found = name in entries or any(fnmatch(name, entry) for entry in entries)
        if name == "index":
            assert not found, "docs/index.md: expected in no toctree, found in one"
            continue
        place = f"docs/{name.partition('/')[0]}.md" if "/" in name else "docs/index.md"
        assert found, (
            f"{name}: expected in a toctree, found in none; add it to the toctree of {place}, "
            "or of the page that introduces it"
        )
    for entry in entries:
        assert "*" in entry or entry in PAGES, f"toctree entry {entry}: no such page in docs/"


@pytest.mark.parametrize("path", sorted((DOCS / "api").glob("*.md")), ids=lambda path: path.stem)
def test_every_page_of_a_module_is_listed_and_its_names_exist(path: Path) -> None:
    assert f"(api/{path.name})" in page("api.md")
    text = path.read_text(encoding="utf-8")
    found = re.findall(r"^\.\. auto(?:function|class|data):: ([\w.]+)", text, re.MULTILINE)
    assert found
    for module, _, member in (name.rpartition(".") for name in found):
        assert hasattr(pytest.importorskip(module, exc_type=ImportError), member), member


def test_the_citation_is_of_this_version() -> None:
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    found = dict(re.findall(r"^([a-z-]+): (.+)$", text, re.MULTILINE))
    assert found["version"] == wfb_gym.__version__
    assert {"cff-version", "license", "message", "title", "type"} <= set(found)


def test_folders_and_tests_named_to_contributors_exist() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    folders = re.findall(r"`((?:wfb_gym|agents|experiments|tests|docs)/[\w./-]*)`", text)
    tests = re.findall(r"`(tests/[\w./]+\.py)::(test_\w+)`", text)
    assert min(len(folders), len(tests)) > 15
    for path in folders:
        assert place_of(path).exists(), path
    for path, name in tests:
        assert f"def {name}(" in place_of(path).read_text(encoding="utf-8"), f"{path}::{name}"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    options = ("--fail-on-warning", "--keep-going", "--quiet", "-d", folder / "trees")
    done = run_python("-m", "sphinx", *options, DOCS, folder / "site")
    assert done.status == 0, done.err
    return folder / "site"


needs_docs = pytest.mark.skipif(
    any(importlib.util.find_spec(name) is None for name in ("furo", "myst_parser", "sphinx")),
    reason="needs the extra docs",
)


@pytest.mark.slow
@needs_docs
def test_the_site_has_its_pages_pictures_and_words(site: Path) -> None:
    assert (site / "environments" / "caster.html").is_file()
    pictures = 0
    for path in site.rglob("*.html"):
        for source in re.findall(r'<img\b[^>]* src="([^":]+)"', path.read_text(encoding="utf-8")):
            assert (path.parent / source).is_file(), f"{path.name}: {source}"
            pictures += 1
    assert pictures > 20
    assert "--scenario NAME" in (site / "leaderboard.html").read_text(encoding="utf-8")
    assert "\u201c6e\u201d" not in (site / "scenarios" / "rules.html").read_text(encoding="utf-8")
    text = (site / "rules-tests.html").read_text(encoding="utf-8")
    assert "engine/<wbr>test_<wbr>casting.py::<wbr>test_<wbr>two_<wbr>sixes_" in text
    review = re.search(r'<a[^>]*border-skirmish\.html">', (site / "web.html").read_text("utf-8"))
    assert review
    assert "download=" not in review[0]


@pytest.mark.slow
@needs_docs
def test_links_of_the_site_lead_to_existing_headings_and_names(site: Path) -> None:
    """Including those between source and documentation, which Sphinx does not check."""
    texts = {path: path.read_text(encoding="utf-8") for path in site.rglob("*.html")}
    anchors = {path: set(re.findall(r' id="([^"]+)"', text)) for path, text in texts.items()}
    links = 0
    for path, text in texts.items():
        if path.parent.parent.name == "_downloads":
            continue  # a review, whose own script reads its anchors
        for target, anchor in re.findall(r'<a\b[^>]* href="([^":#]*)#([^"]+)"', text):
            aimed = (path.parent / target).resolve() if target else path
            assert unquote(anchor) in anchors[aimed], f"{path.name}: {target}#{anchor}"
            links += 1
    assert links > 1000


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        yield playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])


FOUND_FIRST = {
    "action table": "environments/", "autoreset": "environments.html", "install": "install.html",
    "make_agent": "api/players.html", "miscast": "five-minutes.html",
    "scroll": "five-minutes.html", "write an agent": "howto/write-an-agent.html",
}  # fmt: skip
"""Common search terms, and the first result of the site's search for each."""


@pytest.mark.slow
@needs_docs
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium")
def test_the_search_finds_the_right_page_first(site: Path, chromium: Any) -> None:
    page = chromium.new_page()
    for words, wanted in FOUND_FIRST.items():
        page.goto(f"{(site / 'search.html').as_uri()}?q={words.replace(' ', '+')}")
        first = page.locator("#search-results li a").first.get_attribute("href")
        assert (first or "").startswith(wanted), f"{words}: {first}"


@pytest.mark.slow
@needs_docs
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium")
@pytest.mark.parametrize("width", [1400, 390])
def test_pages_are_as_wide_as_their_window(site: Path, chromium: Any, width: int) -> None:
    """On a phone, wide tables and code blocks scroll in their own boxes, and nothing else does."""
    boxes = "html, .content" + (", .table-wrapper, .highlight pre" if width > 1000 else "")
    wide = "all => all.filter(each => each.scrollWidth > each.clientWidth).length"
    page = chromium.new_page(viewport={"width": width, "height": 900})
    for name in [*PAGES, "genindex"]:
        page.goto((site / f"{name}.html").as_uri())
        assert page.eval_on_selector_all(boxes, wide) == 0, name
