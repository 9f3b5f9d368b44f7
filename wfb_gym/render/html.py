"""A position in HTML: dice, spells, items, units, choices and odds, as fragments of a page.

The web UI and the review in one file show these. The templates are in `templates`, the style sheets
and the script in `static`; a page has `SYMBOLS` and "fragments.css" once, and the fragments in an
element of the class ``wfb``. Every name is escaped. Needs ``pip install "wfb-gym[html]"``.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

try:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
except ImportError as error:
    raise ImportError('HTML pages need Jinja: pip install "wfb-gym[html]"') from error

from wfb_gym.engine.battle import Battle
from wfb_gym.engine.promises import worth_in_play, worth_now
from wfb_gym.render.dice import PIPS, doubled
from wfb_gym.transcripts.review import NOTICED, Choice, ReviewedDecision
from wfb_gym.view.events import Event
from wfb_gym.view.hidden_sets import armies_known, chances_words, veiled
from wfb_gym.view.names import (
    ScenarioNames,
    capital,
    dice_phrase,
    format_points,
    plural_points,
)
from wfb_gym.view.odds import DispelOdds, SpellOdds
from wfb_gym.view.position import SpellStatus, army_name, view_army, view_step

_FOLDER = Path(__file__).parent
_MINUS = "\N{MINUS SIGN}"


def exact_points(points: float) -> str:
    """Return points with two decimals and a minus sign."""
    return f"{round(points, 2) + 0.0:.2f}".replace("-", _MINUS)


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
        "points": format_points,
    }
    return made


def render_template(name: str, **values: Any) -> str:
    """Return a template with its values."""
    return _environment().get_template(name).render(values)


def render_macro(name: str, *values: Any, template: str = "fragments.html") -> str:
    """Return what a macro of a template makes of values."""
    return str(getattr(_environment().get_template(template).module, name)(*values))


@cache
def static_text(*names: str) -> str:
    """Return style sheets or scripts, one after the other."""
    return "\n".join((_FOLDER / "static" / name).read_text(encoding="utf-8") for name in names)


def symbols_html() -> str:
    """Return the faces of a die, and one that lies unthrown, as symbols to refer to."""
    return render_macro("symbols", PIPS)


# --- armies --------------------------------------------------------------------------------


def army_blocks(names: ScenarioNames, battle: Battle, army: int, you: int | None) -> list[str]:
    """Return an army's card in parts, of which a step changes few: the head, who is in it, units.

    `battle` is the visible position, and `you` the army of the viewer's, if there is one: of the
    enemy's hidden items it sees what may be, until the battle is over.
    """
    known = armies_known(battle, you)
    battle = veiled(battle, known)
    view = view_army(names, battle, army, army in known)
    blocks = [render_macro("head", view, you == army)]
    for each in view.characters:
        points: dict[int | None, float] = {}
        for spell in each.spells:
            if spell.number is not None and not battle.is_over:
                worth = worth_in_play if spell.status == SpellStatus.IN_PLAY else worth_now
                points[spell.number] = worth(battle.packed, battle.state, army, spell.number, 0.0)
        blocks.append(render_macro("character", each, army, points))
    if view.items:
        blocks.append(render_macro("army_items", view.items))
    if view.hidden:
        blocks.append(render_macro("hidden", "Hidden items", view.hidden))
    if view.may_have:
        blocks.append(render_macro("hidden", "May have", chances_words(view.may_have)))
    if view.units:
        blocks.append(render_macro("units", view.units))
    return blocks


def army_html(names: ScenarioNames, battle: Battle, army: int, you: int | None = None) -> str:
    """Return an army's card."""
    blocks = "".join(army_blocks(names, battle, army, you))
    return f'<section class="army a{army}">{blocks}</section>'


# --- what goes on --------------------------------------------------------------------------


def score_html(names: ScenarioNames, battle: Battle) -> str:
    """Return the phase and who is ahead."""
    total, points = int(battle.packed.phases), battle.points
    phase = "over" if battle.is_over else f"phase {int(battle.state.phase) + 1} of {total}"
    if abs(points) < NOTICED:
        return render_macro("score", phase, f"level on {names.point}s", None)
    ahead = int(points < 0)
    words = f"{army_name(names, ahead)} ahead by {format_points(abs(points))}"
    return render_macro("score", phase, words, ahead)


def step_html(names: ScenarioNames, battle: Battle) -> str:
    """Return what is going on now, and the dice that are about to be thrown or lie."""
    step = view_step(names, battle)
    return render_macro("step", step, [(face, "") for face in step.faces])


def event_html(event: Event) -> str:
    """Return what happened, with the dice as they fell."""
    words = event.words
    if event.faces:  # they are drawn
        words = capital(words.removeprefix(f"{' '.join(map(str, event.faces))}: "))
    return render_macro("event", event, words, _marked(event))


def _marked(event: Event) -> list[tuple[int, str]]:
    """Return dice as they fell, each with "six" or "one" for a double that means something."""
    kinds = {6: "six", 1: "one"}
    return [(face, kinds[face] if face in doubled(event) else "") for face in event.faces]


# --- choices and odds ----------------------------------------------------------------------


def choices_html(choices: Iterable[Choice], method: str, is_exact: bool) -> str:
    """Return a table of what every choice is worth, the best first.

    Where the best play is a mixture it has how often to choose each.
    """
    ranked = sorted(choices, key=lambda each: (not each.is_best, -each.value))
    best = ranked[0].value
    widest = max((best - each.value for each in ranked), default=0.0) or 1.0
    rows = [(each, 100 * (best - each.value) / widest) for each in ranked]
    how = "exact, both sides playing their best" if is_exact else f"estimated by {method}"
    how = f"Points still to come for who decides, {how}."
    return render_macro("choices", rows, how, ranked[0].share is not None)


def verdict_html(decision: ReviewedDecision, choices: Sequence[Choice]) -> str:
    """Return what a decision of a review was worth, with those of its choices that are listed."""
    about = "" if decision.is_exact else "about "
    table = choices_html(choices, decision.method, decision.is_exact) if choices else ""
    total = f"{about}{plural_points(decision.total)}"
    return render_macro("verdict", decision, table, decision.lost >= NOTICED, total)


def cast_odds_html(spells: Mapping[str, SpellOdds]) -> str:
    """Return a table for each spell: what every number of dice does."""
    return render_macro("cast_odds", spells)


def dispel_odds_html(rows: Sequence[DispelOdds]) -> str:
    """Return a table of what every number of dispel dice does."""
    return render_macro("dispel_odds", rows)
