"""Content of docs/five-minutes.md: tables of the rules, one phase with given dice, its pictures.

    python -m tools.five_minutes           write tables into the page, and draw the pictures
    python -m tools.five_minutes --check   only report whether the tables are current

The engine plays the phase and `wfb_gym.transcripts` describes it, so this module has no rules.
Tables are written between <!-- report:NAME --> and <!-- /report --> in the page. The pictures need
``pip install "wfb-gym[render]"``.
"""

from wfb_gym._commands import run_main

if __name__ == "__main__":
    run_main("tools.five_minutes")

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from PIL import Image

from experiments.common import FAILED
from experiments.tables import markdown_table
from tools.documents import IMAGES, ROOT, CheckOptions, insert_table
from wfb_gym import solver
from wfb_gym.cli.parser import parse_options
from wfb_gym.engine.actions import FIRST_CAST, FIRST_DICE, FIRST_ITEM
from wfb_gym.engine.battle import Battle
from wfb_gym.engine.state import Node
from wfb_gym.files import atomic_write, atomic_write_text
from wfb_gym.render import colours
from wfb_gym.render.drawing import to_image
from wfb_gym.render.shapes import Drawing, Extent
from wfb_gym.render.sketch import Sketch
from wfb_gym.rules.casting import Casting, casting_probabilities, most_casting_dice
from wfb_gym.rules.dispelling import dispel_chance
from wfb_gym.rules.pools import (
    BASE_DISPEL_DICE,
    BASE_POWER_DICE,
    dispel_dice_of_level,
    power_dice_of_level,
)
from wfb_gym.scenario import load_scenario
from wfb_gym.transcripts import Event, NarratedBattle
from wfb_gym.view.decisions import describe_action
from wfb_gym.view.names import ScenarioNames

PAGE = ROOT / "docs" / "five-minutes.md"
SCENARIO = "archmage-duel"
Step = int | tuple[int, ...]
"""An action in the engine, or the dice of a roll."""
FIRE_BALL, FIERY_BLAST, BURNING_HEAD = range(FIRST_CAST, FIRST_CAST + 3)
SPELLS: dict[str, tuple[Step, ...]] = {
    "first": (BURNING_HEAD, FIRST_DICE + 3, (2, 4, 5), FIRST_ITEM),
    "second": (FIRE_BALL, FIRST_DICE + 1, (5,), FIRST_DICE + 2, (4, 2)),
    "third": (FIERY_BLAST, FIRST_DICE + 2, (6, 6)),
}
"""The phase, spell by spell, keyed by the names of tables and pictures."""
OTHER_ENDS: tuple[tuple[tuple[int, ...], ...], ...] = (((3, 4),), ((1, 1), (1, 1), (2, 1, 1)))
"""Different dice for the last spell, with the rolls that follow."""
LEVELS = range(1, 5)
DICE = range(1, most_casting_dice(LEVELS[-1]) + 1)
_WIDTH = 1120
"""Picture width in pixels."""


@dataclass(frozen=True)
class _Moment:
    """A step in the phase: the event, and the positions before and after it."""

    event: Event
    before: Battle
    after: Battle


def play_step(battle: NarratedBattle, step: Step) -> Event:
    """Play an action, or roll dice."""
    return battle.roll(*step) if isinstance(step, tuple) else battle.act(step)


def new_battle() -> NarratedBattle:
    """Return the battle before its first decision."""
    return NarratedBattle(load_scenario(SCENARIO))


def moments() -> dict[str, list[_Moment]]:
    """Play the phase, and return its steps by spell."""
    battle = new_battle()
    found: dict[str, list[_Moment]] = {name: [] for name in SPELLS}
    for name, steps in SPELLS.items():
        for step in steps:
            before = battle.battle.copy()
            event = play_step(battle, step)
            found[name].append(_Moment(event, before, battle.battle.copy()))
    return found


def level_table() -> str:
    """Return a table of the dice that wizards bring, by level."""
    rows = [["level of a wizard", "power dice", "dispel dice", "max. dice per spell"]]
    for level in LEVELS:
        dice = (power_dice_of_level(level), dispel_dice_of_level(level), most_casting_dice(level))
        rows.append([str(level), *map(str, dice)])
    army = ["(the army)", str(BASE_POWER_DICE), str(BASE_DISPEL_DICE), ""]
    return markdown_table([*rows, army])


def spell_table() -> str:
    """Return a table of the spells in the phase."""
    rows = [["spell", "casting value", "worth in points"]]
    for spell in load_scenario(SCENARIO).caster.wizards[0].spells:
        rows.append([spell.name, f"{spell.casting_value}+", f"{spell.worth:.0f}"])
    return markdown_table(rows)


def casting_table() -> str:
    """Return a table of casting chances by dice, including casts that cannot be dispelled."""
    values = [spell.casting_value for spell in load_scenario(SCENARIO).caster.wizards[0].spells]
    rows = [["power dice", *(f"{value}+" for value in values), "two 6s", "two 1s"]]
    for dice in DICE:
        rolls = [casting_probabilities(dice, value) for value in values]
        casts = [each[Casting.CAST] + each[Casting.IRRESISTIBLE] for each in rolls]
        both = rolls[0][Casting.IRRESISTIBLE], rolls[0][Casting.MISCAST]
        rows.append([str(dice), *(f"{float(chance):.0%}" for chance in (*casts, *both))])
    return markdown_table(rows)


def dispel_table() -> str:
    """Return a table of dispel chances by dice and by the total to match."""
    totals = (5, 8, 11, 14)
    rows = [["dispel dice", *(f"against {total}" for total in totals)]]
    for dice in DICE:
        chances = (float(dispel_chance(dice, total)) for total in totals)
        rows.append([str(dice), *(f"{chance:.0%}" for chance in chances)])
    return markdown_table(rows)


def events_list(events: Sequence[Event], name: str) -> str:
    """Return a list of the events, with the picture."""
    words = "\n".join(f"- {event.words}" for event in events)
    return f"{words}\n\n![the dice of the {name} spell](images/five-minutes-{name}.png)"


def other_ends() -> Iterator[str]:
    """Describe the last spell with other dice."""
    *opening, _ = [step for steps in SPELLS.values() for step in steps]
    for rolls in OTHER_ENDS:
        battle = new_battle()
        for step in opening:
            play_step(battle, step)
        yield "- " + " ".join(battle.roll(*faces).words for faces in rolls)


def decisions_table(steps: Iterable[_Moment]) -> str:
    """Return a table of all decisions: the action played, the best one, and their values."""
    solution, names = solver.solve(SCENARIO), ScenarioNames(load_scenario(SCENARIO))
    rows = [["player", "played", "points", "best", "points"]]
    for step in steps:
        if step.event.kind != "decision":
            continue
        sign = (1, -1)[step.event.army]
        values = {a: sign * value for a, value in solution.action_values(step.before).items()}
        row = [("caster", "dispeller")[step.event.army]]
        for action in (step.event.code, max(values, key=values.__getitem__)):
            after = step.before.copy()
            after.act(action)
            words = describe_action(names, step.before, action, after).text
            row += [words, f"{values[action]:+.1f}"]
        rows.append(row)
    return markdown_table(rows, text_columns=(0, 1, 3))


def make_tables() -> dict[str, str]:
    """Return the page's tables by name."""
    spells = moments()
    found = {"levels": level_table(), "casts": casting_table(), "dispels": dispel_table()}
    found["spells"] = spell_table()
    found |= {name: events_list([m.event for m in steps], name) for name, steps in spells.items()}
    found["other-ends"] = "\n".join(other_ends())
    found["best-play"] = decisions_table(chain.from_iterable(spells.values()))
    return found


def make_tutorial(text: str) -> str:
    """Return the page with up-to-date tables.

    Raises:
        ValueError: if the page lacks a table's marks.
    """
    for name, table in make_tables().items():
        if f"<!-- report:{name} -->" not in text:
            raise ValueError(f"expected <!-- report:{name} --> in {PAGE.name}")
        text = insert_table(text, name, table)
    return text


@dataclass(frozen=True)
class Row:
    """A line in a picture: its army, dice (0 for a die not rolled), and the words on both sides."""

    army: int
    words: str
    faces: tuple[int, ...] = ()
    result: str = ""


def pools_rows(battle: Battle, start: str = "") -> list[Row]:
    """Return the dice in both pools, as lines in a picture."""
    pools = ("power dice", int(battle.state.power)), ("dispel dice", int(battle.state.dispel))
    return [
        Row(army, f"{start}{name}", (0,) * dice, "" if dice else "none")
        for army, (name, dice) in enumerate(pools)
    ]


def spell_rows(steps: Sequence[_Moment]) -> list[Row]:
    """Return a spell as lines in a picture: its roll, the answer, and the dice left."""
    names = ScenarioNames(load_scenario(SCENARIO))
    cast = next(step for step in steps if step.event.node == Node.ROLL_CASTING)
    spell = names.spell(0, int(cast.before.state.spell) - 1)
    rows = [Row(0, spell, cast.event.faces, _total(cast.event.faces))]
    *_, last = steps
    if last.event.node == Node.ROLL_DISPEL:
        rows.append(Row(1, "dispel roll", last.event.faces, _total(last.event.faces)))
    elif last.event.node == Node.DISPEL:
        rows.append(Row(1, "Dispel Scroll", (), "dispelled"))
    else:
        rows.append(Row(1, "dispel roll", (), "not possible"))
        rows.append(Row(0, "won", (), f"{last.event.points:.0f} points"))
    return rows if last.after.is_over else [*rows, *pools_rows(last.after, "left: ")]


def _total(faces: Sequence[int]) -> str:
    return f"= {sum(faces)}" if len(faces) > 1 else ""


def pictures() -> dict[str, list[Row]]:
    """Return every picture's lines, by file name."""
    doubles = [
        Row(0, "irresistible force", (6, 2, 6)),
        Row(0, "miscast", (1, 5, 1)),
        Row(0, "both: a miscast", (1, 6, 1, 6)),
    ]
    found = {"pools": pools_rows(new_battle().battle), "doubles": doubles}
    found |= {name: spell_rows(steps) for name, steps in moments().items()}
    return {f"five-minutes-{name}.png": rows for name, rows in found.items()}


def draw_lines(rows: Sequence[Row]) -> Image.Image:
    """Draw a picture from its lines."""
    high, page = 50, Extent(0.0, -50.0 * len(rows) - 16, 560.0, 0.0)
    sketch = Sketch()
    sketch.fill(page, None, colours.LINE)
    for number, row in enumerate(rows):
        box = page.row(8 + high * number, high).grown(-14, 0)
        sketch.write(box._replace(right=200), row.words, 18, colours.ARMIES[row.army])
        left = 210
        for face in row.faces:
            body = colours.PALE[row.army] if face == 0 else colours.BONE
            if row.army == 0 and row.faces.count(face) > 1:
                body = {1: colours.ONE, 6: colours.SIX}.get(face, body)
            sketch.die(box, left, 38, face, body, colours.ARMIES[row.army])
            left += 46
        sketch.write(box._replace(left=left + 6), row.result, 18, colours.INK)
    return to_image(Drawing(page, tuple(sketch.shapes), "dice"), _WIDTH)


def main(arguments: Sequence[str] | None = None) -> int:
    """Write tables and pictures, or check the tables, and return the exit status."""
    options, _ = parse_options(
        CheckOptions, arguments, module="tools.five_minutes", description=__doc__
    )
    text = PAGE.read_text(encoding="utf-8")
    wanted = make_tutorial(text)
    if options.check:
        print("the page is current" if text == wanted else "the page is stale", file=sys.stderr)
        return 0 if text == wanted else FAILED
    atomic_write_text(PAGE, wanted)
    for name, rows in pictures().items():
        with atomic_write(IMAGES / name) as file:
            draw_lines(rows).quantize(32).save(file, format="png", optimize=True)
    return 0
