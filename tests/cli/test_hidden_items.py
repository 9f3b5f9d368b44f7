"""Commands on scenarios with hidden items: the information shown, and one-line errors."""

import re
import tomllib
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from tests.cli.conftest import TypeAnswers
from tests.cli.console import play_in_console
from tests.support.commands import CommandLine
from tests.support.hidden import SCROLL, STONE, hidden_scenario, kinds
from wfb_gym.advising.hidden_advice import advise_hidden
from wfb_gym.advising.position import RequestedPosition
from wfb_gym.advising.request import PositionRequest
from wfb_gym.engine import actions
from wfb_gym.engine.battle import Battle
from wfb_gym.engine.state import new_states
from wfb_gym.scenario import scenario_from_dict
from wfb_gym.solver import Equilibrium, solve_hidden
from wfb_gym.solver.regret_matching import Sweeper
from wfb_gym.transcripts import read, record, replay, write
from wfb_gym.transcripts.mixtures import GAP
from wfb_gym.view.odds_sheet import odds_sheet

FILE = """
name = "secrets"
[caster]
power_dice = 3
hidden = [{ items = ["Power Stone"] }, { items = [] }]
[[caster.wizards]]
name = "Mage"
level = 2
spells = [
  { name = "Bolt", casting_value = 5, worth = 20 },
  { name = "Blast", casting_value = 7, worth = 40 },
]
[dispeller]
dispel_dice = 2
hidden = [{ items = [] }, { items = ["Dispel Scroll"], weight = 2 }]
[[dispeller.wizards]]
name = "Rival"
level = 1
spells = [{ name = "Spark", casting_value = 5, worth = 1 }]
"""


@pytest.fixture
def file() -> str:
    Path("secrets.toml").write_text(FILE, encoding="utf-8")
    return "secrets.toml"


def test_a_person_sees_only_its_own_items(file: str) -> None:
    seen = set()
    for seed in range(8):
        _, shown = play_in_console(file, [], seed=seed)
        assert shown[0] == f"secrets, seed {seed}. Hidden items are dealt."
        (own,) = [line for line in shown if line.startswith("* Your hidden items: ")]
        assert own in ("* Your hidden items: Power Stone.", "* Your hidden items: nothing.")
        assert "Chance deals the dispeller its hidden items. Phase 1 of 1: " in "\n".join(shown)
        assert "  may have: nothing (33%), Dispel Scroll (67%)" in shown
        *before, left, last = shown
        assert left == "You leave the table: the score is even."
        assert "the dispeller had " not in "\n".join(before)
        words = own.removeprefix("* Your hidden items: ").removesuffix(".")
        assert last.startswith(f"Hidden items: the caster had {words}, the dispeller had ")
        seen.add(last)
    assert len(seen) > 2


def test_only_the_own_deal_changes_the_battle_that_a_person_sees(file: str) -> None:
    """The table with its estimates differs only with the person's own hidden items."""
    tables: dict[str, set[str]] = {}
    for seed in range(10):
        _, shown = play_in_console(file, ["?"], seed=seed)
        own, _ = shown[-1].split(", ")
        tables.setdefault(own, set()).add("\n".join(shown[1:-1]))
        assert any("method: as if the dispeller had Dispel Scroll" in line for line in shown)
    assert {len(each) for each in tables.values()} == {1}


def test_the_other_seat_and_a_searching_opponent(file: str) -> None:
    _, shown = play_in_console(file, ["pass"] * 20, seat=1, seed=4, opponent="search:1")
    assert "  may have: Power Stone (50%), nothing (50%)" in shown
    assert shown[-1].startswith("Hidden items: the caster had ")


def test_play_and_replay(commands: CommandLine, type_answers: TypeAnswers, file: str) -> None:
    for public in (False, True):
        type_answers("pass")
        option = " --public" if public else ""
        commands.output(f"play {file} --seed 1 --transcript {public}.jsonl{option}")
        transcript = read(Path(f"{public}.jsonl"))
        assert transcript.is_public == public
        replay(transcript)
        shown = commands.output(f"replay {public}.jsonl --table")
        ending = "a public transcript, without hidden items that were not shown" if public else ""
        assert shown.splitlines()[0].endswith(ending or "seed 1")
        assert ("hidden items: " in shown) != public
        assert ("may have: " in shown) == public


@pytest.mark.needs("jinja2")
def test_replay_writes_a_review_if_the_deals_are_recorded(commands: CommandLine, file: str) -> None:
    battle = Path("battle.jsonl")
    transcript = record(file, "veteran", "random", seed=1)
    write(transcript, battle)
    line = f"replay {battle} --html review.html"
    said = commands.output(line)
    assert said.startswith("The caster: ")
    assert said.endswith("The review is in review.html.\n")
    page = Path("review.html").read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert "Frequency" in page
    write(transcript, battle, public=True)
    message = "--html: expected a transcript that includes the deals of hidden items, found a publ"
    assert commands.error(line).startswith(message)


def test_the_sheet_lists_hidden_sets_with_their_chances(commands: CommandLine, file: str) -> None:
    shown = commands.output(f"odds {file}").splitlines()
    assert shown[2] == "hidden items: Power Stone (50%), nothing (50%)"
    assert shown[3].startswith(f"{STONE}, hidden: ")
    at = shown.index("The dispeller has")
    assert shown[at + 1] == "hidden items: nothing (33%), Dispel Scroll (67%)"
    assert shown[at + 2].startswith(f"{SCROLL}, hidden: ")


def test_the_chances_of_the_sheet_leave_out_hidden_items() -> None:
    sheet = odds_sheet(hidden_scenario(caster=kinds([], ["Luckstone"], bearer="Mage")), 0)
    assert sheet.items["hidden items"] == "nothing (50%), Luckstone (50%)"
    assert replace(sheet, items={}) == odds_sheet(hidden_scenario(), 0)


def test_advice_is_a_mixture_for_each_set_of_the_mover(commands: CommandLine, file: str) -> None:
    found = commands.document(f"advise {file}")
    equilibrium = solve_hidden(file, gap=0.05)
    assert (found["scenario"], found["mover"]) == ("secrets", "caster")
    assert [each["items"] for each in found["enemy"]] == ["nothing", SCROLL]
    assert found["lower"] <= equilibrium.upper
    assert equilibrium.lower <= found["upper"] <= found["lower"] + 0.05
    assert [each["dealt"] for each in found["mixtures"]] == [STONE, "nothing"]
    for kind, mixture in enumerate(found["mixtures"]):
        chances = [each["chance"] for each in mixture["plays"]]
        assert sum(chances) == pytest.approx(1.0, abs=0.01)
        assert chances == sorted(chances, reverse=True)
        names = {actions.FIRST_CAST: "cast Bolt (5+)", actions.FIRST_CAST + 1: "cast Blast (7+)"}
        chosen = {each["play"]: each["chance"] for each in mixture["plays"]}
        for action, code in enumerate(equilibrium.game.tree.code[:3].tolist()):
            if code in names:
                expected = equilibrium.strategy[action, kind]
                assert chosen.get(names[code], 0.0) == pytest.approx(expected, abs=0.001)


def test_weights_are_the_movers_beliefs(commands: CommandLine, file: str) -> None:
    values = []
    for weights in ("1,0", "1,2", "0,1"):
        found = commands.document(f"advise {file} --weights {weights}")
        values.append((found["lower"] + found["upper"]) / 2)
    assert values == sorted(values, reverse=True)
    assert values[0] > values[2] + 1.0
    unchanged = commands.document(f"advise {file}")
    assert values[1] == pytest.approx((unchanged["lower"] + unchanged["upper"]) / 2)


WHOLE_GAP = 0.0005
PLACES: dict[str, PositionRequest] = {
    "the spell is named": PositionRequest(nominated="Bolt"),
    "one was tried": PositionRequest(tried=["Bolt"], power=1),
    "the second is cast": PositionRequest(cast="Blast", total=12, power=0),
    "with a stone": PositionRequest(
        tried=["Bolt"], shown=["Power Stone"], cast="Blast", total=11, power=0, dispel=0
    ),
}


@cache
def whole_game() -> Equilibrium:
    return solve_hidden(scenario_from_dict(tomllib.loads(FILE)), gap=WHOLE_GAP)


@pytest.mark.parametrize("place", PLACES)
def test_later_advice_has_the_value_of_the_whole_game(place: str, file: str) -> None:
    """Equilibria are not unique, but their value under given beliefs is."""
    equilibrium = whole_game()
    position = RequestedPosition(replace(PLACES[place], scenario=file))
    mover = position.battle.mover
    node = likeliest(equilibrium, position.battle)
    game = equilibrium.game
    weights = game.tree.weights
    reach = [weights[army] * game.reaches(equilibrium.strategy, army)[node] for army in (0, 1)]
    beliefs = [(each / each.sum()).tolist() for each in reach]
    found = advise_hidden(position, beliefs[1 - mover], beliefs[mover])
    sweeper = Sweeper(game.tree.arrays, weights)
    sweeper.points(0, False, equilibrium.strategy)
    others = sweeper.sweep.other_reach[node].sum()
    expected = float(beliefs[0] @ sweeper.sweep.values[node]) / others
    tolerance = 1e-9 + WHOLE_GAP / reach[0].sum()  # a saving in one part counts in full
    assert found.mover == mover
    assert found.upper - found.lower <= GAP
    assert found.lower - tolerance <= expected <= found.upper + tolerance
    if place == "with a stone":
        assert found.sets[0] == [(0, STONE, 1.0)]


def likeliest(equilibrium: Equilibrium, battle: Battle) -> int:
    """Return the likeliest history that matches the public information of a position."""
    game = equilibrium.game
    states = new_states(1)
    states[0] = battle.state
    game.redactor.hide(states)
    reach = game.tree.weights[0] @ game.reaches(equilibrium.strategy, 0).T
    found = [
        int(node)
        for nodes, positions in game.tree.decisions(battle.mover)
        for node in nodes[np.flatnonzero(np.asarray(positions) == np.asarray(states))]
    ]
    node = max(found, key=lambda each: float(reach[each]))
    assert reach[node] > 0.01
    return node


def test_items_that_were_shown_are_used_up(commands: CommandLine) -> None:
    line = "advise hidden-scrolls --power 2 --shown 'Dispel Scroll'"
    found = commands.document(line)
    assert [each["items"] for each in found["enemy"]] == ["Dispel Scroll", "Dispel Scroll x2"]
    assert [each["chance"] for each in found["enemy"]] == pytest.approx([2 / 3, 1 / 3])
    assert (found["power"], found["dispel"], found["scrolls"]) == (2, 4, 0)
    (mixture,) = found["mixtures"]
    assert (found["mover"], found["node"], mixture["dealt"]) == ("caster", "nominate", None)
    with_both = commands.document(f"{line} --weights 0,0,1")
    assert [each["items"] for each in with_both["enemy"]] == ["Dispel Scroll x2"]
    assert with_both["upper"] < found["lower"]


def test_the_mover_decides_whose_weights_are_given(commands: CommandLine, file: str) -> None:
    line = f"advise {file} --cast Blast --total 12 --power 0"
    by_deal = commands.document(line)
    found = commands.document(f"{line} --weights 3,1 --own-weights 1,1")
    assert [each["chance"] for each in by_deal["enemy"]] == pytest.approx([1 / 2, 1 / 2])
    assert [each["chance"] for each in by_deal["beliefs"]] == pytest.approx([1 / 3, 2 / 3])
    assert [each["chance"] for each in found["enemy"]] == pytest.approx([3 / 4, 1 / 4])
    assert [each["chance"] for each in found["beliefs"]] == pytest.approx([1 / 2, 1 / 2])
    assert [each["items"] for each in found["enemy"]] == [STONE, "nothing"]
    assert [each["dealt"] for each in found["mixtures"]] == ["nothing", SCROLL]
    assert found["lower"] > by_deal["upper"]  # a scroll is less likely
    known = commands.document(f"advise {file} --own-weights 0,1")
    assert [each["items"] for each in known["beliefs"]] == ["nothing"]
    assert [each["dealt"] for each in known["mixtures"]] == [STONE, "nothing"]


def test_advice_in_words(commands: CommandLine, file: str) -> None:
    shown = commands.output(f"advise {file} --power 2").splitlines()
    assert shown[:4] == [
        "secrets: 2 power dice against 2 dispel dice and no known scrolls.",
        "Items are hidden, so the best play is a mixed strategy.",
        "The dispeller may have been dealt: nothing (33%), Dispel Scroll (67%).",
        "The dispeller's beliefs about the caster: Power Stone (50%), nothing (50%).",
    ]
    points = r"worth between \d+\.\d\d and \d+\.\d\d points to the caster"
    assert re.fullmatch(f"The rest of the phase is {points}.", shown[4])
    assert "CHANCE  PLAY OF THE CASTER with nothing" in shown


NOTHING_HIDDEN = "expected a scenario in which nothing is hidden, found hidden items in secrets"


@pytest.mark.parametrize(
    ("line", "message"),
    [("play {} --opponent optimal", f"opponent optimal: {NOTHING_HIDDEN}; veteran and search"),
     ("play {} --public", "--public: expected --transcript with it, found none"),
     ("advise {} --weights 1", "--weights: expected a weight for each of the 2 sets"),
     ("advise {} --weights 0,0", "--weights: expected weights of 0 or more, at least one above"),
     ("advise {} --weights 1,x", "argument --weights: expected numbers separated by commas"),
     ("advise {} --own-weights 1,2,3", "--own-weights: expected a weight for each of the 2 set"),
     ("advise {} --shown 'Powr Stone'", "--shown: expected a hidden item (did you mean Power"),
     ("advise {} --shown 'Dispel Scroll' 'Dispel Scroll'", "--shown: expected items that are"),
     ("advise {} --shown 'dispeller/Dispel Scroll' --weights 1,0",
      "--weights: expected a weight above 0 for a set with the items shown, found 1,0"),
     ("advise {} --power 0", "secrets: expected a decision, found the end"),
     ("advise hidden-stone --weights 1", "--weights: expected none, because the dispeller"),
     ("advise hidden-phases --shown 'Dispel Scroll'",
      f"--shown: expected one of caster/{SCROLL}, "),
     ("advise archmage-duel --shown 'Dispel Scroll'", "--shown: expected a hidden item (there")],
)  # fmt: skip
def test_bad_input_is_one_line(commands: CommandLine, file: str, line: str, message: str) -> None:
    assert commands.error(line.format(file)).startswith(message)


def test_rolled_spells_must_be_given(commands: CommandLine) -> None:
    rolled = re.sub(r"(?s)level = 2\nspells = \[.*?\n\]", 'level = 2\nlore = "fire"', FILE)
    Path("rolled.toml").write_text(rolled, encoding="utf-8")
    spells = ("Mage", "Fiery Blast", "Burning Head")
    for option, given in (("--spells", ()), ("--rolled", ("--rolled", *spells))):
        message = f"{option}: expected --spells with all spells of Mage, because there are hidden "
        assert commands.error("advise rolled.toml", *given).startswith(message)
    found = commands.document("advise rolled.toml --power 1 --dispel 1", "--spells", *spells)
    assert [each["dealt"] for each in found["mixtures"]] == [STONE, "nothing"]


def test_too_large_scenarios_are_rejected(
    commands: CommandLine, monkeypatch: pytest.MonkeyPatch, file: str
) -> None:
    monkeypatch.setattr("wfb_gym.advising.hidden_advice._MOST_BYTES", 1000)
    message = commands.error(f"advise {file}")
    assert message.endswith("; try fewer dice, spells or phases (--phases 1)")
    assert "expected public histories that fit" in message


def test_a_known_item_is_treated_as_open(commands: CommandLine) -> None:
    """One hidden set for each army, and the last usable item."""
    items = {"one": 'hidden = [{ items = ["Power Stone"] }]', "open": 'items = ["Power Stone"]'}
    for name, line in items.items():
        Path(f"{name}.toml").write_text(re.sub(r"hidden = .*", line, FILE))
    found, expected = (commands.document(f"advise {name}.toml") for name in items)
    assert found.pop("position") != expected.pop("position")  # ids of two scenarios
    assert found == expected
    assert found["is_exact"]
    known = "advise hidden-scroll --shown 'Dispel Scroll'"
    assert commands.document(known)["method"] == "exact"
    message = commands.error(f"{known} --weights 1,2")
    assert message.startswith("--weights: expected hidden items that the enemy does not know yet, ")
