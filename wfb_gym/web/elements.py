"""Elements that the form and the game share."""

from html import escape

from nicegui import ui

from wfb_gym.render.html import render_macro

FLAT = "flat no-caps dense"
"""Properties of a text-only button."""
OUTLINED = "no-caps outline dense padding='3px 14px'"
"""Properties of any other button."""


def add_text(words: str = "", tag: str = "div", classes: str = "") -> ui.html:
    """Add an element with a text, which is escaped."""
    return ui.html(escape(words), sanitize=False, tag=tag).classes(classes)


def set_text(element: ui.html, words: str) -> None:
    """Replace the text of an element."""
    element.set_content(escape(words))


def waiting(words: str) -> str:
    """Return the HTML of a waiting message; "" for no message."""
    return render_macro("waiting", words, template="web.html") if words else ""
