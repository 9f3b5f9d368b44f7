"""A position in HTML: dice, spells, items, units, choices and odds, as fragments of a page.

The page in the browser and the review in one file show these. `STYLE` and `SYMBOLS` go into a page
once; the fragments stand anywhere within an element of the class ``wfb``. Every name is escaped.
What is said comes from `facts` and `wfb_gym.transcripts`.
"""

from collections.abc import Iterable, Mapping, Sequence
from html import escape

from wfb_gym.engine.battle import Battle
from wfb_gym.engine.promises import worth_in_play, worth_now
from wfb_gym.render.html_style import PIPS
from wfb_gym.rules.dice import FACES, double
from wfb_gym.transcripts.review import NOTICED, Choice
from wfb_gym.view.events import Event
from wfb_gym.view.hidden_sets import armies_known, chances_words, veiled
from wfb_gym.view.names import ScenarioNames, dice_phrase, format_points
from wfb_gym.view.nodes import CASTING_ROLLS, DISPEL_ROLLS
from wfb_gym.view.odds import DispelOdds, SpellOdds
from wfb_gym.view.position import (
    ArmyView,
    CharacterView,
    ItemView,
    SpellStatus,
    SpellView,
    UnitView,
    army_name,
    view_army,
    view_step,
)

_MOST_DISCS = 6
"""Wounds of one character that are drawn one by one."""
_STATUS_CLASSES = {
    SpellStatus.OPEN: "open",
    SpellStatus.PENDING: "pending",
    SpellStatus.IN_PLAY: "playing",
    SpellStatus.FORGOTTEN: "forgotten",
}


# --- dice ----------------------------------------------------------------------------------


def _symbols() -> str:
    """Return the faces of a die, and one that lies unthrown, as symbols to refer to."""
    faces = []
    for face in range(1, FACES + 1):
        pips = "".join(f'<circle cx="{x}" cy="{y}" r="2.3"/>' for x, y in PIPS[face])
        body = '<rect class="body" x="1" y="1" width="22" height="22" rx="5"/>'
        faces.append(f'<symbol id="die-{face}" viewBox="0 0 24 24">{body}{pips}</symbol>')
    pool = (
        '<symbol id="die-pool" viewBox="0 0 24 24">'
        '<path class="top" d="M12 1.5 22 7 12 12.5 2 7Z"/>'
        '<path class="left" d="M2 7 12 12.5V23L2 17.5Z"/>'
        '<path class="right" d="M22 7 12 12.5V23L22 17.5Z"/>'
        '<ellipse class="pip" cx="12" cy="7" rx="2" ry="1.15"/>'
        '<circle class="pip" cx="5" cy="11.6" r="1.15"/>'
        '<circle class="pip" cx="9" cy="18" r="1.15"/>'
        '<circle class="pip" cx="19.3" cy="11.3" r="1.1"/>'
        '<circle class="pip" cx="17" cy="14.9" r="1.1"/>'
        '<circle class="pip" cx="14.7" cy="18.5" r="1.1"/></symbol>'
    )
    hidden = 'width="0" height="0" style="position:absolute" aria-hidden="true"'
    return f"<svg {hidden}>{''.join(faces)}{pool}</svg>"


SYMBOLS = _symbols()


def _die(symbol: str, kind: str) -> str:
    return f'<svg class="die {kind}" aria-hidden="true"><use href="#die-{symbol}"/></svg>'


def pool_dice(dice: int, army: int) -> str:
    """Return dice of an army that have not been thrown."""
    return _die("pool", f"a{army}") * dice


def pool_html(dice: int, kind: str, army: int) -> str:
    """Return dice that have not been thrown, and how many they are in words."""
    drawn = pool_dice(dice, army)
    return f'<div class="pool"><span class="dice">{drawn}</span> {dice_phrase(dice, kind)}</div>'


def faces_html(faces: Sequence[int], event: Event | None = None) -> str:
    """Return dice as they fell; what doubles mean to the event is marked."""
    casting = event is not None and event.node in CASTING_ROLLS
    natural = casting or (event is not None and event.node in DISPEL_ROLLS)
    drawn = []
    for face in faces:
        kind = ""
        if double(faces.count(face)) and ((natural and face == FACES) or (casting and face == 1)):
            kind = "six" if face == FACES else "one"
        drawn.append(_die(str(face), kind))
    label = " ".join(map(str, faces))
    return f'<span class="dice thrown" role="img" aria-label="{label}">{"".join(drawn)}</span>'


# --- armies --------------------------------------------------------------------------------


def army_blocks(names: ScenarioNames, battle: Battle, army: int, you: int | None) -> list[str]:
    """Return an army's card in parts, of which a step changes few: the head, who is in it, units.

    `battle` is the visible position, and `you` the army of the viewer's, if there is one: of the
    enemy's hidden items it sees what may be, until the battle is over.
    """
    known = armies_known(battle, you)
    battle = veiled(battle, known)
    facts = view_army(names, battle, army, army in known)
    blocks = [_head(facts, you == army)]
    blocks += [_character(each, facts, battle) for each in facts.characters]
    if facts.items:
        items = "".join(map(_item, facts.items))
        blocks.append(f'<div class="who"><b>Items of the army</b><div>{items}</div></div>')
    if facts.hidden:
        blocks.append(_hidden("Hidden items", facts.hidden))
    if facts.may_have:
        blocks.append(_hidden("May have", chances_words(facts.may_have)))
    if facts.units:
        units = "".join(map(_unit, facts.units))
        blocks.append(f'<div class="units">{units}</div>')
    return blocks


def _hidden(heading: str, words: str) -> str:
    return f'<div class="who"><b>{heading}</b><div><small>{escape(words)}</small></div></div>'


def army_html(names: ScenarioNames, battle: Battle, army: int, you: int | None = None) -> str:
    """Return an army's card."""
    blocks = "".join(army_blocks(names, battle, army, you))
    return f'<section class="army a{army}">{blocks}</section>'


def _head(facts: ArmyView, is_you: bool) -> str:
    badges = [("you", is_you), ("casting", facts.casts), (facts.activity, bool(facts.activity))]
    shown = "".join(f'<span class="badge">{words}</span>' for words, on in badges if on)
    pool = pool_html(facts.pool, facts.pool_kind, facts.army) if facts.pool_kind else ""
    turn = " turn" if facts.activity else ""
    return f'<header class="{turn}"><h3>{escape(facts.name)}</h3>{shown}</header>{pool}'


def _character(each: CharacterView, facts: ArmyView, battle: Battle) -> str:
    lost = max(0, each.full_wounds - each.wounds)
    wounds = f"{each.wounds} of {each.full_wounds} wounds"
    if max(each.wounds, each.full_wounds) <= _MOST_DISCS and each.wounds:
        discs = '<i class="on"></i>' * each.wounds + "<i></i>" * lost
        wounds = f'<span class="wounds" title="{wounds}" aria-label="{wounds}">{discs}</span>'
    notes = [f"level {each.level}" if each.level and each.wounds else "", escape(each.place)]
    words = ", ".join(note for note in notes if note)
    condition = f'<span class="tag warn">{escape(each.condition)}</span>' if each.condition else ""
    own = ""
    if each.dice:
        drawn = pool_dice(each.dice, facts.army)
        own = f'<span class="dice" title="dice of his own">{drawn}</span>'
    spells = "".join(_spell(spell, facts, battle) for spell in each.spells)
    items = "".join(map(_item, each.items))
    return (
        f'<div class="who{"" if each.wounds else " dead"}"><div class="line">'
        f"<b>{escape(each.name)}</b> <small>{words}</small>{wounds if each.wounds else ''}"
        f"{own}{condition}</div>"
        + (f'<ul class="spells">{spells}</ul>' if spells else "")
        + (f"<div>{items}</div>" if items else "")
        + "</div>"
    )


def _spell(spell: SpellView, facts: ArmyView, battle: Battle) -> str:
    worth = ""
    if spell.number is not None and not battle.is_over:
        promise = worth_in_play if spell.status == SpellStatus.IN_PLAY else worth_now
        points = float(promise(battle.packed, battle.state, facts.army, spell.number, 0.0))
        worth = f'<span class="worth" title="points on average">{format_points(points)} pts</span>'
    kind = _STATUS_CLASSES.get(spell.status, "spent" if spell.status.value else "")
    name = escape(spell.name) if spell.name != "a spell" else "a spell"
    return (
        f'<li class="{kind}"><span class="value">{escape(spell.value)}</span>'
        f'<span class="name">{name}</span>{worth}'
        f'<span class="status">{escape(spell.words)}</span></li>'
    )


def _item(item: ItemView) -> str:
    several = f" &times;{item.number}" if item.number > 1 else ""
    return (
        f'<span class="item{" used" if item.spent else ""}" title="{item.spent}">'
        f"{escape(item.name)}{several}</span>"
    )


def _unit(unit: UnitView) -> str:
    share = 100 * unit.models / unit.full_models
    lost = f"&minus;{format_points(unit.points_lost)}" if unit.points_lost else ""
    condition = f'<span class="tag warn">{escape(unit.condition)}</span>' if unit.condition else ""
    gone = "" if unit.models else " gone"
    return (
        f'<div class="unit{gone}"><span class="name">{escape(unit.name)} {condition}</span>'
        f'<span class="bar"><i style="width:{share:.0f}%"></i></span>'
        f'<span class="count">{unit.models}/{unit.full_models}</span>'
        f'<span class="lost">{lost}</span></div>'
    )


# --- what goes on --------------------------------------------------------------------------


def score_html(names: ScenarioNames, battle: Battle) -> str:
    """Return the phase and who is ahead."""
    state, total = battle.state, int(battle.packed.phases)
    phase = "over" if battle.is_over else f"phase {int(state.phase) + 1} of {total}"
    points = battle.points
    words = f"level on {names.point}s"
    leader = ""
    if abs(points) >= NOTICED:
        ahead = int(points < 0)
        leader = f" a{ahead}"
        words = f"{escape(army_name(names, ahead))} ahead by {format_points(abs(points))}"
    return (
        f'<div class="score"><span class="tag">{phase}</span> '
        f'<span class="ahead{leader}">{words}</span></div>'
    )


def step_html(names: ScenarioNames, battle: Battle) -> str:
    """Return what is going on now, and the dice that are about to be thrown or lie."""
    step = view_step(names, battle)
    army = "" if step.army is None else f" a{step.army}"
    dice = faces_html(step.faces) if step.faces else ""
    if step.dice and not dice:
        dice = f'<span class="dice">{_die("pool", army) * step.dice}</span>'
    spell = f"<div><b>{escape(step.spell)}</b></div>" if step.spell else ""
    details = f"<div><small>{escape(step.details)}</small></div>" if step.details else ""
    return f'<div class="step{army}"><div>{escape(step.text)}</div>{spell}{details}{dice}</div>'


def event_html(event: Event) -> str:
    """Return what happened, with the dice as they fell."""
    dice = faces_html(event.faces, event) if event.faces else ""
    words = event.words
    if event.faces:  # they are drawn
        words = words.removeprefix(f"{' '.join(map(str, event.faces))}: ")
        words = words[:1].upper() + words[1:]
    return f'<div class="event a{event.army} {event.kind}">{dice}<span>{escape(words)}</span></div>'


def _percent(chance: object) -> str:
    return "" if chance is None else f"{100 * float(chance):.1f}%"  # type: ignore[arg-type]


def points_html(points: float) -> str:
    """Return points with two decimals and a real minus."""
    return f"{round(points, 2) + 0.0:.2f}".replace("-", "&minus;")


def choices_html(choices: Iterable[Choice], method: str, is_exact: bool) -> str:
    """Return a table of what every choice is worth, the best first.

    Where the best play is a mixture it has how often to choose each.
    """
    ranked = sorted(choices, key=lambda each: (not each.is_best, -each.value))
    best = ranked[0].value
    widest = max((best - each.value for each in ranked), default=0.0) or 1.0
    is_mixed = ranked[0].share is not None
    mixture, kind_of_table = ("<th>Mixture</th>", "values mixed") if is_mixed else ("", "values")
    rows = []
    for each in ranked:
        marks = [("best", each.is_best), ("played", each.is_played)]
        tags = "".join(f'<span class="tag {mark}">{mark}</span>' for mark, on in marks if on)
        kind = " ".join(mark for mark, on in marks if on)
        share = "" if each.share is None else f"<td>{each.share:.0%}</td>"
        long = 100 * (best - each.value) / widest
        rows.append(
            f'<tr class="{kind}"><td>{escape(each.text)} {tags}</td>{share}'
            f"<td>{_percent(each.chance)}</td><td>{points_html(each.value)}</td>"
            f'<td class="loss"><i style="width:{long:.0f}%"></i></td></tr>'
        )
    how = "exact, both sides playing their best" if is_exact else f"estimated by {method}"
    how = f"Points still to come for who decides, {how}"
    return (
        f'<table class="{kind_of_table}"><thead><tr><th>Choice</th>{mixture}<th>Chance</th>'
        f"<th>Points</th><th>Less</th></tr></thead><tbody>{''.join(rows)}</tbody></table>"
        f'<p class="how">{escape(how)}.</p>'
    )


def cast_odds_html(spells: Mapping[str, SpellOdds]) -> str:
    """Return a table for each spell: what every number of dice does."""
    parts = []
    for name, spell in spells.items():
        most = max(each.points for each in spell.casts)
        rows = "".join(
            f'<tr class="{"most" if each.points == most else ""}"><td>{each.dice}</td>'
            f"<td>{_percent(each.cast)}</td><td>{_percent(each.irresistible)}</td>"
            f"<td>{_percent(each.miscast)}</td><td>{points_html(each.points)}</td></tr>"
            for each in spell.casts
        )
        parts.append(
            f'<table class="odds"><caption>{escape(name)}, worth '
            f"{format_points(spell.points)}</caption><thead><tr><th>Dice</th><th>Cast</th>"
            "<th>Irresistible</th><th>Miscast</th><th>Points</th></tr></thead>"
            f"<tbody>{rows}</tbody></table>"
        )
    note = (
        '<p class="how">Points on average if nobody dispels; a miscast costs extra. '
        "Bold: the most points.</p>"
    )
    return f'<div class="sheets">{"".join(parts)}</div>{note}'


def dispel_odds_html(rows: Sequence[DispelOdds]) -> str:
    """Return a table of what every number of dispel dice does."""
    body = "".join(
        f"<tr><td>{escape(each.text)}</td><td>{_percent(each.chance)}</td>"
        f"<td>{points_html(each.saved)}</td></tr>"
        for each in rows
    )
    return (
        '<table class="odds"><thead><tr><th>Dispel</th><th>Chance</th><th>Points saved</th></tr>'
        f"</thead><tbody>{body}</tbody></table>"
    )
