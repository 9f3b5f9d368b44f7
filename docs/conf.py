"""Configuration of Sphinx, which makes a site of the pages in docs/: `make docs`."""

import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from docutils.nodes import Text
from sphinx.addnodes import desc_annotation
from sphinx.domains.python import PyFunction

import wfb_gym

DOCS = Path(__file__).parent

project = "wfb_gym"
author = "wfb_gym contributors"
version = release = wfb_gym.__version__

extensions = [
    "myst_nb",  # Markdown pages and notebooks
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
]
exclude_patterns = ["results"]
# The notebook is stored with its outputs (`python -m tools.notebook`).
nb_execution_mode = "off"
# Links to headings are written as a forge makes them: #whole-battles.
myst_heading_anchors = 3
# Pictures with a width of their own are written in HTML.
myst_enable_extensions = ["html_image"]
# Options and keys are copied from tables: "6e" and --seed stay as they are written.
smartquotes = False

# Docstrings put code between single backticks.
default_role = "code"
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
napoleon_attr_annotations = False
autodoc_typehints_format = "short"
# No extra of `make setup` installs OpenSpiel, but the site describes its adapter.
autodoc_mock_imports = [name for name in ("pyspiel", "open_spiel") if find_spec(name) is None]
maximum_signature_line_length = 70
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_ivar = True

html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_extra_path = ["../wfb_gym/data/scenario.schema.json"]
html_search_scorer = str(DOCS / "scorer.js")
html_title = "wfb_gym"
html_show_sphinx = False
html_show_copyright = False


def folders_as_words(app: Any, name: str, source: list[str]) -> None:
    """Leave the words of links to folders of the checkout, which no site can show."""
    here = (DOCS / name).parent

    def words(found: re.Match[str]) -> str:
        return found[1] if (here / found[2]).is_dir() else found[0]

    source[0] = re.sub(r"\[([^\]]+)\]\((\.\./[^)#]+)\)", words, source[0])


def nav_that_is_there(app: Any, name: str, source: list[str]) -> None:
    """Leave out entries of the nav with a star that no page matches."""

    def there(line: str) -> bool:
        star = re.fullmatch(r"[\w/-]+\*", line)
        return star is None or any(any(DOCS.glob(line + end)) for end in (".md", ".ipynb"))

    if name == app.config.root_doc:
        source[0] = "\n".join(filter(there, source[0].split("\n")))


def pages_that_open(app: Any, name: str, template: str, context: dict[str, Any], tree: Any) -> None:
    """Let a link to a page of docs/examples open it, where Sphinx would have it saved."""
    if "body" in context:
        context["body"] = re.sub(r' download=""( href="[^"]+\.html")', r"\1", context["body"])


def names_that_break(
    app: Any, name: str, template: str, context: dict[str, Any], tree: Any
) -> None:
    """Let the long names of the page of code and tests break between their words."""
    if name == "rules-tests" and "body" in context:
        context["body"] = re.sub(
            r'(?<=<span class="pre">)[^<]+',
            lambda found: re.sub(r"(?<=[/:_])(?![/:_])", "<wbr>", found[0]),
            context["body"],
        )


def sources_that_lead_back(
    app: Any, name: str, template: str, context: dict[str, Any], tree: Any
) -> None:
    """Lead from a source to its documentation, where a module has some of its names from another.

    Sphinx takes all of them for names of one module: of `wfb_gym`, which has `Limits` from
    `wfb_gym.encoding.limits` and not `fit`.
    """
    if name.startswith("_modules/") and "body" in context:
        module = name.removeprefix("_modules/").replace("/", ".")
        documented = app.env.get_domain("py").objects

        def anchor(found: re.Match[str]) -> str:
            own = f"{module}.{found[2].rpartition('.')[2]}"
            is_own = found[2] not in documented and own in documented
            return found[1] + (own if is_own else found[2])

        context["body"] = re.sub(
            r'(class="viewcode-back" href="[^"#]+#)([\w.]+)', anchor, context["body"]
        )


def first_section(
    app: Any, what: str, name: str, found: Any, options: Any, lines: list[str]
) -> None:
    """Cut docstrings that are a page of their own (docs/environments) at their first heading."""
    for number, line in enumerate(lines):
        if line.startswith("## "):
            del lines[number:]
            return


NAMES_OF_TYPES = {
    r"~?(?:numpy\.)?ndarray\[tuple\[~?(?:typing\.)?Any, \.\.\.\], "
    r"~?(?:numpy\.)?dtype\[~?(?:(?:numpy|typing)\.)?(\w+)\]\]": r"NDArray[\1]",
    r"~?(collections\.abc|typing)\.Callable\[\[\.\.\.\], NDArray\[int64\]\]": "Policy",
    r"str \| ~?pathlib\.Path \| Policy \| ~?wfb_gym\.players\.interface\.HasPolicy": "Opponent",
    "<factory>": "...",
}
"""Names of aliases by the types that they replace in signatures, in this order."""


def names_of_types(app: Any, what: str, name: str, found: Any, options: Any, *given: Any) -> Any:
    """Write types in a signature by the names that the sources use."""
    return tuple(map(shortened, given))


def shortened(text: str | None) -> str | None:
    """Return text with the names that the sources use for types."""
    for long, short in NAMES_OF_TYPES.items():
        text = text and re.sub(long, short, text)
    return text


def types_of_properties(app: Any, domain: str, kind: str, content: Any) -> None:
    """Write the types of properties, which no signature holds, by the same names."""
    for annotation in content.parent.findall(desc_annotation):
        text = annotation.astext()
        if kind == "property" and (short := shortened(text)) != text:
            annotation.children = [Text(short)]


def setup(app: Any) -> None:
    """Connect the functions above to Sphinx, and correct the heading of attributes."""
    for field in PyFunction.doc_field_types:  # which all kinds share
        if field.name == "variable":
            field.label = "Attributes"
    app.connect("source-read", folders_as_words)
    app.connect("source-read", nav_that_is_there)
    app.connect("html-page-context", pages_that_open)
    app.connect("html-page-context", names_that_break)
    app.connect("html-page-context", sources_that_lead_back)
    app.connect("autodoc-process-docstring", first_section)
    app.connect("autodoc-process-signature", names_of_types)
    app.connect("object-description-transform", types_of_properties)
