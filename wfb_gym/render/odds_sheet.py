"""An army's odds sheet as a single HTML page, for phones or for printing on A4."""

from wfb_gym.render.html import render_template, static_text
from wfb_gym.view import odds_sheet


def html_of(sheet: odds_sheet.OddsSheet) -> str:
    """Return the page as a single self-contained document; all names are escaped."""
    return render_template(
        "odds.html", sheet=sheet, words=odds_sheet, style=static_text("odds.css")
    )
