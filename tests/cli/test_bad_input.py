"""Bad input of the commands, and missing libraries: one line on stderr, with the reason."""

import sys
from pathlib import Path

import pytest

from tests.support.commands import CommandLine
from tests.support.pages import ROOT

Patch = pytest.MonkeyPatch
DUEL, SEVENTH_DUEL, SKIRMISH = "archmage-duel", "seventh-edition-duel", "border-skirmish"
REPLAYED = ROOT / "docs" / "examples" / "border-skirmish.jsonl"
FIRE_BALL_AT = "--wizard 2 'Fire Ball' --target"
HEAD_CAST = f"{DUEL} --cast 'Burning Head' --total 12 --power 2"
SKIRMISH_CAST = f"{SKIRMISH} --cast 'Fire Ball' --total 9 --power 2"


ADVISE = [
    ("", "situation: expected a scenario or --wizard, found neither"),
    (f"{DUEL} --power 25 --json", "--power: expected 0..24, found 25"),
    (f"{DUEL} --own 30", "--own: expected 0..24, found 30"),
    (f"{DUEL} --own 1 2", "a number for each of the caster's wizards (Archmage), found 2"),
    ("--wizard 5 8=40", "--wizard: expected a level from 1 to 4 first, found 5"),
    ("--wizard 4", "--wizard: expected spells after the level 4, found none"),
    ("--wizard 4 8=40 Wall of Fire=9", '--wizard: expected quotes: "Wall of Fire=9", found'),
    (f"--wizard 4{' x' * 100_000}", "--wizard: expected at most 24 spells, found 100000 words"),
    (f"{DUEL} --nominated Burning Head", "expected no more arguments, found Head (a name of"),
    ("--wizard 4 'Firebal=20'", "did you mean Fire Ball?), found 'Firebal'"),
    (f"{DUEL} --nominated 'Fire Ball' --power 0", "expected power dice to cast it with, found"),
    ("--wizard 2 'Fire Ball=20' fireball=9", "expected each spell once, found Fire Ball twice"),
    ("--wizard 2 'Fiery Blast 20'", "= before the points, as Fiery Blast=20, found 'Fiery"),
    (f"{DUEL} --wizard 4 8", "the spell's value in points, such as 8=20, found '8'"),
    ("--wizard 4 8=much", "--wizard: expected the value of 8+ in points after the ="),
    ("--wizard 4 2=20", "casting_value: expected a whole number from 3 to 15, found 2"),
    (f"{DUEL} --tried 'Fire Ball'", "--tried: expected --power with it"),
    (f"{DUEL} --tried Firebal", "--tried: expected a spell of the caster (did you mean Fire"),
    (f"{DUEL} --cast 'Fire Ball'", "--total and --power with it (the power dice that are"),
    (f"{DUEL} --cast 'Fire Ball' --total 9", "--cast: expected --power with it"),
    (f"{DUEL} --cast 'Fire Ball' --power 3", "--cast: expected --total with it"),
    (f"{DUEL} --total 9", "--total: expected --cast with it"),
    (f"{DUEL} --at 'Orc Boyz'", "--at: expected --nominated or --cast with it"),
    (f"{DUEL} --nominated Bolt --cast Bolt --total 9", "no spell together with --cast"),
    (f"{DUEL} --nominated 'Fire Ball' --at Orcs", "--at: expected no target, found 'Orcs'"),
    (f"{DUEL} --power 2 --tried 'Fire Ball' --nominated 'Fire Ball'", "can be cast now (Fiery"),
    (f"{SEVENTH_DUEL} --power 2 --tried 'Fire Bolt' --own 2 2", "one of Wizard Lord/Fire "),
    (f"{SEVENTH_DUEL} --power 2 --tried Spark", "--tried: expected --own with it"),
    (f"{DUEL} --cast 'Burning Head' --total 8 --power 2", "expected a total from 9 to 26, the"),
    (f"{DUEL} --cast 'Burning Head' --total 27 --power 1", "without irresistible force"),
    (f"{HEAD_CAST} --dispel 0 --scrolls 0", "--dispel: expected dice or a scroll to dispel"),
    (SKIRMISH_CAST, "--cast: expected --at with it ("),
    (f"{SKIRMISH_CAST} --at 'Night Goblins'", "--at: expected "),
    ("border-skirmish --phases 7", "--phases: expected 1..6, found 7"),
    (f"{FIRE_BALL_AT} 'orc boys'", "--target: expected a unit of an army list (did"),
    (f"{FIRE_BALL_AT} '0 Orc Boyz'", "--target: expected 1 to 200 models, found '0"),
    ("--wizard 2 'Fire Ball=3' --target 'Orc Boyz'", "--target: expected --wizard with a spell of"),
    (f"{DUEL} --target 'Orc Boyz'", "spell of a lore without points, and no scenario, found Orc"),
    ("--wizard 2 'Commandment of Brass' --target 'Orc Boyz'", "--target: expected a unit that Com"),
]
"""Arguments of `advise`."""


@pytest.mark.parametrize(
    ("line", "message"),
    [
        *((f"advise {line}", message) for line, message in ADVISE),
        ("import missing.txt", "missing.txt: expected an army list, found No such file"),
        ("import .", ".: expected an army list, found a folder"),
        ("import empty.txt", "empty.txt: expected a line for each unit"),
        ("import empty.txt --out no/such.toml", "--out: expected a file in a folder that exists"),
        ("import - --enemy -", "--enemy: expected another file"),
        ("duel", "invalid choice: 'duel'"),
        ("scenarios skirmish", "(did you mean border-skirmish?), found 'skirmish'"),
        ("scenarios apprentice --json", "--json: expected no scenario name"),
        ("profiles chaos knights", "the name of an army list, warriors-of-chaos for this profile"),
        ("roll 3 8", "expected options, such as --dice 3 --value 8, found 3 8"),
        ("roll", "expected --value to cast or --total to dispel, and the dice with it"),
        ("roll --dice 3", "expected --value with --dice"),
        ("roll --dispel 3", "expected --total with --dispel"),
        ("roll --value 8 --dispel", "expected a number of dice with --dice, --dispel or both"),
        ("roll --dice 3 --value 8 --dispel 0", "--dispel: expected 1..24, found 0"),
        ("roll --dice 0 --value 8 --dispel", "--dice: expected 1..24, found 0"),
        ("roll --dispel 0 --total 8", "--dispel: expected 1..24, found 0"),
        ("roll --dice 3 --value 8 --dispel 3 --total 8", "found --dice with --dispel"),
        ("roll --dice 3 --value 8 --double-six", "found --dice with --double-six"),
        ("roll --dice 3 --total 12", "with --total (did you mean --dispel 3?)"),
        ("roll --dispel --dice 3 --total 12", "with --dispel (did you mean --dispel 3?)"),
        ("roll --dispel 3 --total 8 --no-irresistible", "--no-irresistible with --dispel"),
        ("roll --dice 25 --value 8", "--dice: expected 1..24, found 25"),
        ("roll --dice 3 --value 16", "--value: expected 3..15, found 16"),
        ("roll --dice 3 --value 8 --bonus 99", "--bonus: expected -24..24, found 99"),
        ("roll --dispel 3 --total 0", "--total: expected 1..168, found 0"),
        ("drwa border-skirmish", "(did you mean draw?)"),
        ("targets border-skirmish --wizrd=x", "arguments: --wizrd=x (did you mean --wizard?)"),
        (f"targets {SKIRMISH} --spell 'Fire Bell'", "--spell: expected a spell of a wizard (did"),
        ("targets archmage-duel --side dispeller", "spells of the dispeller, found archmage-duel"),
        (f"draw {SKIRMISH} --wizard Sorceror", "(did you mean Sorcerer?), found 'Sorceror'"),
        (f"draw {SKIRMISH} --wizard 'Battle Wizard'", "expected one spell by --wizard and --spell"),
        ("draw archmage-duel", "expected one with a battlefield, found archmage-duel"),
        (f"draw {SKIRMISH} --out field.tiff", ".png or .svg, found 'field.tiff'"),
        ("play --opponent unknown", "opponent: expected one of random, greedy"),
        ("play --opponent unknown", "veteran:0.2 to act at random with that probability"),
        ("play --seed -1", "--seed: expected 0 or more, found -1"),
        ("play --transcript no/such/folder/file", "--transcript: expected a file in a folder"),
        ("replay nowhere.jsonl", "nowhere.jsonl: expected a transcript, found no file"),
        ("advise --position p1.archmage-duel.00000000000", "--position: expected a position id"),
        ("advise archmage-duel --position p1.x.y", "no other description of the position, found"),
        ("advise --position p1.x.y --power 3", "description of the position, found power too"),
        ("play --position nothing", "--position: expected a position id, found 'nothing'"),
        ("play archmage-duel --position p1.x.y", "scenario: expected none with --position"),
        ("play --position p1.x.y --transcript a.jsonl", "--transcript: expected none with"),
        ("replay g1.archmage-duel.00000000000", "expected a game line"),
    ],
)
def test_bad_input_is_one_line_on_stderr(commands: CommandLine, line: str, message: str) -> None:
    Path("empty.txt").touch()
    assert message in commands.error(line)


@pytest.mark.parametrize(
    ("library", "users", "line", "extra"),
    [
        ("jinja2", "wfb_gym.render.", "odds apprentice --html page.html", "html"),
        ("jinja2", "wfb_gym.render.", f"replay {REPLAYED} --html page.html", "html"),
        ("PIL", "wfb_gym.render.", f"draw {SKIRMISH} --out x.png", "render"),
        ("torch", "wfb_gym.players.learned", "play --opponent archmage-duel/dispeller", "train"),
        ("sb3_contrib", "sb3_contrib.", "train apprentice", "train"),
        ("nicegui", "wfb_gym.web.app", "web --no-open", "web"),
    ],
)
def test_a_missing_library_is_named_with_its_extra(
    commands: CommandLine, monkeypatch: Patch, library: str, users: str, line: str, extra: str
) -> None:
    for name in [name for name in sys.modules if name.startswith(users)]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, library, None)
    assert f'pip install "wfb-gym[{extra}]"' in commands.error(line)
