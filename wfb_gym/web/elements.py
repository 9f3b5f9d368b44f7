"""Elements shared by the form and the game."""

import json
from html import escape

from nicegui import ui

from wfb_gym.render.html import render_macro

FLAT = "flat no-caps dense"  # properties for a text-only button
OUTLINED = "no-caps outline dense padding='3px 14px'"  # properties for all other buttons
FILLED = OUTLINED.replace("outline", "unelevated")
"""Properties for a toggle that is on, and for the main button."""


def add_text(words: str = "", tag: str = "div", classes: str = "") -> ui.html:
    """Add an element containing some text, which is escaped."""
    return ui.html(escape(words), sanitize=False, tag=tag).classes(classes)


def set_text(element: ui.html, words: str) -> None:
    """Replace an element's text."""
    element.set_content(escape(words))


def set_title(element: ui.element, words: str) -> None:
    """Set the title of an element's page."""
    element.client.run_javascript(f"document.title = {json.dumps(words)}")


def set_key(button: ui.button | ui.element, key: str) -> None:
    """Let a key click a button, and show the key on it; see web.js."""
    button.props(f'data-key="{key}" aria-keyshortcuts="{key}"')


def show_toggle(button: ui.button, name: str, *, is_on: bool) -> None:
    """Show a toggle's state by its text, its shape and an ARIA attribute."""
    button.set_text(f"{name}: {'on' if is_on else 'off'}")
    shape, other = (FILLED, OUTLINED) if is_on else (OUTLINED, FILLED)
    button.props(f"{shape} aria-pressed={str(is_on).lower()}", remove=other)


def waiting(words: str) -> str:
    """Return the HTML for a waiting message, or "" if there is no message."""
    return render_macro("waiting", words, template="web.html") if words else ""
