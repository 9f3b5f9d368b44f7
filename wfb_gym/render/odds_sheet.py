"""The sheet of an army's odds as one page of HTML: to print on A4, or to read on a phone."""

from wfb_gym.render.html import render_template, static_text
from wfb_gym.view import odds_sheet


def html_of(sheet: odds_sheet.OddsSheet) -> str:
    """Return the page, which loads nothing; every name in it is escaped."""
    return render_template(
        "odds.html", sheet=sheet, words=odds_sheet, style=static_text("odds.css")
    )
