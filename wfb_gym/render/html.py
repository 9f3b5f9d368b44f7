"""HTML fragments that show a position: dice, spells, items, units, choices and odds.

The web UI and the review page use these fragments. Templates are in `templates`, style sheets and
scripts in `static`. A page must include `symbols_html` and "fragments.css" once, and place the
fragments inside an element with the class ``wfb``. All names are escaped. Requires ``pip install
"wfb-gym[html]"``.
"""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

try:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
except ImportError as error:
    raise ImportError('HTML pages need Jinja: pip install "wfb-gym[html]"') from error

from wfb_gym.render.dice import PIPS, doubled
from wfb_gym.transcripts.review import NOTICED, ReviewedAction, ReviewedDecision
from wfb_gym.view.events import Event
from wfb_gym.view.hidden_sets import chances_words
from wfb_gym.view.names import capital, dice_phrase, format_points, plural_points
from wfb_gym.view.position import PositionView

_FOLDER = Path(__file__).parent


def exact_points(points: float) -> str:
    """Format points with two decimal places and a typographic minus sign."""
    return f"{round(points, 2) + 0.0:.2f}".replace("-", "\N{MINUS SIGN}")


def _percent(chance: Any) -> str:
    return "" if chance is None else f"{100 * float(chance):.1f}%"


@cache
def _environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(_FOLDER / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.policies["json.dumps_kwargs"] = {"ensure_ascii": False, "separators": (",", ":")}
    made.filters |= {
        "capital": capital,
        "dice_phrase": dice_phrase,
        "exact_points": exact_points,
        "percent": _percent,
        "plural_points": plural_points,
        "points": format_points,
    }
    return made


def render_template(name: str, **values: Any) -> str:
    """Render a template with the given values."""
    return _environment().get_template(name).render(values)


def render_macro(name: str, *values: Any, template: str = "fragments.html") -> str:
    """Render a template macro with the given values."""
    return str(getattr(_environment().get_template(template).module, name)(*values))


@cache
def static_text(*names: str) -> str:
    """Return the concatenated text of some style sheets or scripts."""
    return "\n".join((_FOLDER / "static" / name).read_text(encoding="utf-8") for name in names)


def symbols_html() -> str:
    """Return SVG symbols for the faces of a die and for a die in a pool."""
    return render_macro("symbols", PIPS)


# --- armies --------------------------------------------------------------------------------


def army_blocks(view: PositionView, army: int) -> list[str]:
    """Return the parts of an army's card (head, characters, units); a step changes only a few."""
    each = view.armies[army]
    blocks = [render_macro("head", each, view.viewer == army)]
    blocks += [render_macro("character", who, army) for who in each.characters]
    if each.items:
        blocks.append(render_macro("army_items", each.items))
    if each.hidden:
        blocks.append(render_macro("hidden", "Hidden items", each.hidden))
    if each.may_have:
        blocks.append(render_macro("hidden", "May have", chances_words(each.may_have)))
    if each.units:
        blocks.append(render_macro("units", each.units))
    return blocks


# --- the current step ----------------------------------------------------------------------


def score_html(view: PositionView) -> str:
    """Return the phase and the score."""
    words = f"level on {view.point}s"
    if view.leader is not None:
        words = f"{view.armies[view.leader].name} ahead by {format_points(abs(view.points))}"
    return render_macro("score", view.stage, words, view.leader)


def step_html(view: PositionView) -> str:
    """Return the current step and its dice."""
    return render_macro("step", view.step, [(face, "") for face in view.step.faces])


def event_html(event: Event) -> str:
    """Return an event and its dice."""
    words = event.words
    if event.faces:  # shown as dice, so remove them from the words
        words = capital(words.removeprefix(f"{' '.join(map(str, event.faces))}: "))
    kinds = {6: "six", 1: "one"}  # marks faces of a double that matters
    marked = [(face, kinds[face] if face in doubled(event) else "") for face in event.faces]
    return render_macro("event", event, words, marked)


# --- choices and odds ----------------------------------------------------------------------


def verdict_html(decision: ReviewedDecision, choices: Sequence[ReviewedAction]) -> str:
    """Return the verdict on a reviewed decision, with a table of the given choices."""
    about = "" if decision.is_exact else "about "
    table = _choices_table(decision, choices) if choices else ""
    total = f"{about}{plural_points(decision.total)}"
    return render_macro("verdict", decision, table, decision.lost >= NOTICED, total)


def _choices_table(decision: ReviewedDecision, choices: Sequence[ReviewedAction]) -> str:
    """Return a table of choices, best first, with probabilities if optimal play is mixed."""
    ranked = sorted(choices, key=lambda each: (not each.is_best, -each.value))
    best = ranked[0].value
    widest = max(best - each.value for each in ranked) or 1.0
    rows = [(each, best - each.value, 100 * (best - each.value) / widest) for each in ranked]
    source = "exact, both sides playing their best"
    if not decision.is_exact:
        source = f"estimated by {decision.method}"
    caption = f"Expected points still to come for the deciding player, {source}."
    return render_macro("choices", rows, caption, ranked[0].share is not None)
