"""Elements that the form and the game have in common."""

from html import escape

from nicegui import ui

from wfb_gym.render.html import render_macro

FLAT = "flat no-caps dense"
"""Properties of a button that looks like words."""
OUTLINED = "no-caps outline dense padding='3px 14px'"
"""Properties of any other button."""


def add_text(words: str = "", tag: str = "div", classes: str = "") -> ui.html:
    """Add an element with words, which are escaped."""
    return ui.html(escape(words), sanitize=False, tag=tag).classes(classes)


def set_text(element: ui.html, words: str) -> None:
    """Give an element other words."""
    element.set_content(escape(words))


def waiting(words: str) -> str:
    """Return HTML that says what is waited for; "" where nothing is."""
    return render_macro("waiting", words, template="web.html") if words else ""
