"""The odds sheet of an army as one HTML page, for printing on A4 and for phones."""

from wfb_gym.render.html import render_template, static_text
from wfb_gym.view import odds_sheet


def html_of(sheet: odds_sheet.OddsSheet) -> str:
    """Return the page as one self-contained document; all names are escaped."""
    return render_template(
        "odds.html", sheet=sheet, words=odds_sheet, style=static_text("odds.css")
    )
