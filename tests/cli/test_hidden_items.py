"""Commands on scenarios with hidden items: what is told, and what is refused in one line."""

import io
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.engine.hidden import SCROLL, STONE, hidden_scenario, kinds
from wfb_gym.cli import main
from wfb_gym.cli.console import ConsoleGame
from wfb_gym.engine import actions
from wfb_gym.render.odds_facts import odds_sheet
from wfb_gym.scenario import Scenario, load_scenario
from wfb_gym.solver import solve_hidden
from wfb_gym.transcripts import read, record, replay, write

Capture = pytest.CaptureFixture[str]
Patch = pytest.MonkeyPatch

MAGE = """
[[caster.wizards]]
name = "Mage"
level = 2
spells = [
  { name = "Bolt", casting_value = 5, worth = 20 },
  { name = "Blast", casting_value = 7, worth = 40 },
]
"""
FILE = f"""
name = "secrets"
[caster]
power_dice = 3
hidden = [{{ items = ["Power Stone"] }}, {{ items = [] }}]
{MAGE}
[dispeller]
dispel_dice = 2
hidden = [{{ items = [] }}, {{ items = ["Dispel Scroll"], weight = 2 }}]
[[dispeller.wizards]]
name = "Rival"
level = 1
spells = [{{ name = "Spark", casting_value = 5, worth = 1 }}]
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "secrets.toml"
    path.write_text(FILE, encoding="utf-8")
    return path


def run(capsys: Capture, *arguments: str) -> str:
    assert main(list(arguments)) == 0
    captured = capsys.readouterr()
    lines = captured.err.splitlines()  # a cold cache says so, once
    assert [each for each in lines if not each.startswith("wfb_gym: ")] == []
    return captured.out


def refused(capsys: Capture, *arguments: str) -> str:
    """What a command says on one line that it refuses."""
    with pytest.raises(SystemExit) as exit_info:
        main(list(arguments))
    assert exit_info.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    return line.partition(": ")[2]


# --- play ----------------------------------------------------------------------------------


def table(
    scenario: Scenario, answers: list[str], seat: int, seed: int, opponent: str = "veteran"
) -> tuple[ConsoleGame, list[str]]:
    """A battle that ends with the answers, and what was shown."""
    shown: list[str] = []
    given: Iterator[str] = iter(answers)

    def ask(prompt: str) -> str:
        try:
            return next(given)
        except StopIteration:
            raise EOFError from None

    game = ConsoleGame(scenario, seat, opponent, seed, ask=ask, show=shown.append)
    game.play()
    return game, "\n".join(shown).splitlines()


def test_a_person_sees_its_own_items_and_not_the_enemys(file: Path) -> None:
    scenario, seen = load_scenario(str(file)), set()
    for seed in range(8):
        _, shown = table(scenario, [], 0, seed)
        assert shown[0] == f"secrets, seed {seed}. Hidden items are dealt."
        (own,) = [line for line in shown if line.startswith("* Your hidden items: ")]
        assert own in ("* Your hidden items: Power Stone.", "* Your hidden items: nothing.")
        assert "Chance deals the dispeller its hidden items. Phase 1 of 1: " in "\n".join(shown)
        assert "  may have: nothing (33%), Dispel Scroll (67%)" in shown
        *before, left, last = shown
        assert left == "You leave the table: nobody is ahead."
        assert "the dispeller had " not in "\n".join(before)
        words = own.removeprefix("* Your hidden items: ").removesuffix(".")
        assert last.startswith(f"Hidden items: the caster had {words}, the dispeller had ")
        seen.add(last)
    assert len(seen) > 2


def test_the_deal_changes_nothing_that_a_person_sees(file: Path) -> None:
    """The same play, and other hidden items of the enemy's, until it uses one or it is over."""
    scenario = load_scenario(str(file))
    tables: dict[str, set[str]] = {}
    for seed in range(12):
        _, shown = table(scenario, [], 0, seed)
        dealt = shown[-1].split(", ")
        tables.setdefault(dealt[0], set()).add("\n".join(shown[1:-1]))
    assert {len(each) for each in tables.values()} == {1}


def test_a_battle_to_its_end_tells_both(file: Path) -> None:
    game, shown = table(load_scenario(str(file)), ["pass"], 0, 1)
    assert game.transcript().over
    assert shown[-1].startswith("Hidden items: the caster had ")


def test_what_a_choice_is_worth_is_an_estimate_without_the_enemys_items(file: Path) -> None:
    scenario = load_scenario(str(file))
    told: dict[str, set[str]] = {}
    for seed in range(12):
        _, shown = table(scenario, ["?"], 0, seed)
        own = next(line for line in shown if line.startswith("* Your hidden items: "))
        start = next(i for i, line in enumerate(shown) if "POINTS TO COME" in line)
        end = next(i for i, line in enumerate(shown) if line.startswith("You leave"))
        told.setdefault(own, set()).add("\n".join(shown[start:end]))
        assert "~ an estimate, not exact: as if the dispeller had Dispel Scroll" in "\n".join(shown)
    assert {len(each) for each in told.values()} == {1}


def test_the_other_seat_and_a_searching_opponent(file: Path) -> None:
    answers = ["pass"] * 20
    _, shown = table(load_scenario(str(file)), answers, 1, 4, opponent="search:1")
    assert "  may have: Power Stone (50%), nothing (50%)" in shown
    assert shown[-1].startswith("Hidden items: the caster had ")


def test_play_and_replay_commands(
    capsys: Capture, monkeypatch: Patch, tmp_path: Path, file: Path
) -> None:
    for public in (False, True):
        monkeypatch.setattr("sys.stdin", io.StringIO("pass\n"))
        out_file = tmp_path / f"{public}.jsonl"
        options = ["--public"] if public else []
        run(capsys, "play", str(file), "--seed", "1", "--transcript", str(out_file), *options)
        assert read(out_file).is_public == public
        replay(read(out_file))
        shown = run(capsys, "replay", str(out_file), "--table")
        first = shown.splitlines()[0]
        ending = "a public transcript, without hidden items that were not shown" if public else ""
        assert first.endswith(ending or "seed 1")
        assert ("hidden items: " in shown) != public
        assert ("may have: " in shown) == public


def test_the_optimum_and_reviews_are_refused(capsys: Capture, tmp_path: Path, file: Path) -> None:
    for opponent in ("optimal", "optimal:0.2"):
        told = refused(capsys, "play", str(file), "--opponent", opponent)
        assert told == (
            f"opponent {opponent}: expected a scenario in which nothing is hidden, found hidden "
            "items in secrets; veteran and search play it"
        )
    told = refused(capsys, "play", str(file), "--public")
    assert told == "--public: expected --transcript with it, found none"
    battle = tmp_path / "battle.jsonl"
    write(record(str(file), "veteran", "random", seed=1), battle)
    told = refused(capsys, "replay", str(battle), "--html", str(tmp_path / "x.html"))
    assert told.startswith("--html: expected a battle in which nothing is hidden")


# --- odds ----------------------------------------------------------------------------------


def test_the_sheet_lists_hidden_sets_with_their_chances(capsys: Capture, file: Path) -> None:
    shown = run(capsys, "odds", str(file)).splitlines()
    assert shown[2] == "hidden items: Power Stone (50%), nothing (50%)"
    assert shown[3].startswith(f"{STONE}, hidden: ")
    at = shown.index("The dispeller has")
    assert shown[at + 1] == "hidden items: nothing (33%), Dispel Scroll (67%)"
    assert shown[at + 2].startswith(f"{SCROLL}, hidden: ")


def test_the_chances_of_the_sheet_are_those_without_hidden_items() -> None:
    luck = hidden_scenario(caster=kinds([], ["Luckstone"], bearer="Mage"))
    sheet = odds_sheet(luck, 0)
    assert sheet.items["hidden items"] == "nothing (50%), Luckstone (50%)"
    assert replace(sheet, items={}) == odds_sheet(hidden_scenario(), 0)


# --- advise --------------------------------------------------------------------------------


def test_advice_is_a_mixture_for_each_set_of_the_mover(capsys: Capture, file: Path) -> None:
    found = json.loads(run(capsys, "advise", str(file), "--json"))
    equilibrium = solve_hidden(str(file), gap=0.05)
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


def test_advice_in_words(capsys: Capture, file: Path) -> None:
    shown = run(capsys, "advise", str(file), "--power", "2").splitlines()
    assert shown[0] == "secrets: hidden items, so the best play is a mixture."
    assert shown[1] == "The dispeller may have: nothing (33%), Dispel Scroll (67%)."
    assert re.fullmatch(
        r"The beginning is worth between \d+\.\d\d and \d+\.\d\d points to the caster.", shown[2]
    )
    assert "CHANCE  PLAY OF THE CASTER with Power Stone" in shown
    assert "CHANCE  PLAY OF THE CASTER with nothing" in shown


def test_weights_are_what_the_mover_believes(capsys: Capture, file: Path) -> None:
    values = []
    for weights in ("1,0", "1,2", "0,1"):
        found = json.loads(run(capsys, "advise", str(file), "--weights", weights, "--json"))
        values.append((found["lower"] + found["upper"]) / 2)
    assert values == sorted(values, reverse=True)
    assert values[0] > values[2] + 1.0
    unchanged = json.loads(run(capsys, "advise", str(file), "--json"))
    assert values[1] == pytest.approx((unchanged["lower"] + unchanged["upper"]) / 2)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--weights", "1"], "--weights: expected a weight for each of the 2 sets"),
        (["--weights", "0,0"], "--weights: expected weights of 0 or more, and one above it"),
        (["--weights", "1,x"], "argument --weights: expected numbers with commas between them"),
        (["--nominated", "Bolt"], "--nominated: expected none, as there are hidden items"),
        (["--tried", "Bolt", "--power", "1"], "--tried: expected none, as there are hidden items"),
    ],
)
def test_the_middle_of_a_phase_is_refused(
    capsys: Capture, file: Path, options: list[str], told: str
) -> None:
    assert refused(capsys, "advise", str(file), *options).startswith(told)


def test_what_begins_with_a_roll_is_refused(capsys: Capture, tmp_path: Path) -> None:
    path = tmp_path / "rolled.toml"
    rolled = re.sub(r"(?s)level = 2\nspells = \[.*?\n\]", 'level = 2\nlore = "fire"', FILE)
    path.write_text(rolled, encoding="utf-8")
    told = refused(capsys, "advise", str(path))
    assert told == (
        "secrets: expected a scenario that begins with a decision, as there are hidden items, "
        "found one that begins with ROLL_SPELLS"
    )


def test_what_is_too_large_is_refused(capsys: Capture, monkeypatch: Patch, file: Path) -> None:
    monkeypatch.setattr("wfb_gym.cli.hidden_advice._MOST_BYTES", 1000)
    told = refused(capsys, "advise", str(file))
    assert told.endswith("; fewer dice, spells or phases (--phases 1) may")
    assert "do not fit" in told


def test_weights_without_hidden_items_are_refused(capsys: Capture) -> None:
    told = refused(capsys, "advise", "archmage-duel", "--weights", "1,2")
    assert told == "--weights: expected a scenario with hidden items, found none of them"


def test_a_single_set_of_each_army_is_refused(capsys: Capture, tmp_path: Path) -> None:
    path = tmp_path / "one.toml"
    path.write_text(re.sub(r"hidden = .*", 'hidden = [{ items = ["Power Stone"] }]', FILE))
    told = refused(capsys, "advise", str(path))
    assert told.startswith("secrets: expected two sets of hidden items or more")
