"""The page on libraries for language models, for the tests of each adapter."""

from importlib.metadata import version

from tests.support.pages import page, rows_of, section

PAGE = page("language-model-libraries.md")


def section_of(library: str) -> str:
    """Return the section of a library, with its code."""
    return section(PAGE, library)


def assert_listed(library: str, package: str) -> None:
    """Assert that the table lists the installed release of a library."""
    rows = rows_of(PAGE, "Libraries for language models")
    (row,) = (row for row in rows if f"[{library}]" in row[0])
    assert row[1] == version(package)
