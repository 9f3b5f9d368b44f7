"""The tournament: exact numbers, misbehaving players, resuming."""

import errno
import json
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
import torch
from matplotlib.figure import Figure

from experiments import tournament
from experiments.records import RecordError, ResultFile
from experiments.tournaments import matches, running
from experiments.tournaments.guarding import Failure, ForfeitError, GuardedAgent
from experiments.tournaments.matches import Match, MatchResult, batches, play_match
from experiments.tournaments.rating import rate
from experiments.tournaments.reports import signed_tick, tables
from tests.support.scripts import Scripts, results_in
from wfb_gym import solver
from wfb_gym.encoding.limits import fit, union
from wfb_gym.envs.scenario_set import generated_limits
from wfb_gym.generating import KINDS
from wfb_gym.packing import pack
from wfb_gym.players.baselines import RandomAgent
from wfb_gym.players.network import PolicyNetwork, save_network
from wfb_gym.players.registry import make_agent
from wfb_gym.scenario import load_scenario
from wfb_gym.seats import SEATS

DUEL = "archmage-duel"
FILE = "cells.jsonl"
HUNT = "orc-shaman-hunt"
PLAYERS = ("random", "veteran", "optimal:0.3", "optimal")


def run(*arguments: str, out: Path, status: int = 0) -> dict[str, Any]:
    assert tournament.main([*arguments, "--out", str(out), "--json"]) == status
    found: dict[str, Any] = results_in(out)
    return found


def test_cells_and_order_are_those_of_the_exact_values(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = run(*PLAYERS, "--scenario", HUNT, "--battles", "500", out=tmp_path)
    assert json.loads(capsys.readouterr().out) == found
    (hunt,) = found["scenarios"]
    assert hunt["agents"] == list(PLAYERS)
    assert len(hunt["cells"]) == 16
    for cell in hunt["cells"]:
        wanted = solver.evaluate(HUNT, cell["caster"], cell["dispeller"])
        assert cell["exact"] == pytest.approx(wanted, abs=1e-9)
        assert cell["low"] < cell["mean"] < cell["high"]
        assert abs(cell["mean"] - wanted) < 2 * (cell["high"] - cell["low"])  # four half-widths
    exact = {(c["caster"], c["dispeller"]): c["exact"] for c in hunt["cells"]}
    strength = {me: sum(exact[me, you] - exact[you, me] for you in PLAYERS) for me in PLAYERS}
    order = sorted(PLAYERS, key=lambda name: -strength[name])
    assert [each["agent"] for each in found["rating"]] == order
    assert order == ["optimal", "veteran", "optimal:0.3", "random"]
    # As all cells were played, a rating is the mean of an agent's rows and columns, in units.
    for each in found["rating"]:
        rough = strength[each["agent"]] / (2 * len(PLAYERS)) / hunt["unit"]
        assert each["rating"]["low"] - 0.03 < rough < each["rating"]["high"] + 0.03
        assert each["forfeits"] == 0
    worst = {each["agent"]: each for each in found["rating"]}
    assert worst["optimal"]["worst"]["high"] > 0.0  # it has the highest rating
    assert worst["veteran"]["against"] == "optimal"
    assert (tmp_path / f"{HUNT}.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "rating.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow  # it compiles another copy of the engine
def test_points_without_their_luck_are_closer_to_the_exact_values(tmp_path: Path) -> None:
    arguments = ["veteran", "greedy", "--scenario", DUEL, "--battles", "300"]
    plain = run(*arguments, out=tmp_path / "plain")["scenarios"][0]["cells"]
    found = run(*arguments, "--luck-adjusted", out=tmp_path / "adjusted")
    assert found["args"]["luck_adjusted"] is True
    for cell, other in zip(found["scenarios"][0]["cells"], plain, strict=True):
        width = cell["high"] - cell["low"]
        assert abs(cell["mean"] - cell["exact"]) < 2 * width + 0.1
        assert width < 0.7 * (other["high"] - other["low"])


def test_the_same_battles_have_the_same_dice_for_all() -> None:
    """Two optimal players with different names and the same play: every battle is the same."""
    players = ("optimal", "optimal:0.0", "random")
    points = [play_match(_match(caster, "veteran")).array for caster in players]
    assert (points[0] == points[1]).all()
    assert (points[0] != points[2]).any()


def _match(caster: str, dispeller: str, battles: int = 100, seconds: float = 5.0) -> Match:
    return Match(load_scenario(DUEL), caster, dispeller, battles, 7, (1, 2), seconds)


def test_points_do_not_depend_on_the_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    for battles in (1, 16, 17, 1040, 1041):
        assert [k for part in batches(battles) for k in part] == list(range(battles))
    assert [len(part) for part in batches(2000)] == [16, 1024, 960]
    before = play_match(_match("veteran", "greedy"))
    monkeypatch.setattr(matches, "BATCH_SIZE", 7)
    assert play_match(_match("veteran", "greedy")).points == before.points


def _cells(
    scenario: str, strengths: dict[str, tuple[float, float]], scale: float, level: float
) -> list[MatchResult]:
    """Return cells for known strengths, with the same luck in all of them."""
    luck = np.array([-1.0, 1.0] * 50)
    return [
        MatchResult(scenario, i, j, tuple(scale * (level + a - d + luck)), (0.0, 0.0))
        for i, (a, _) in strengths.items()
        for j, (_, d) in strengths.items()
    ]


STRENGTHS = {"a": (0.5, 0.3), "b": (0.1, -0.1), "c": (-0.6, -0.2)}


def test_known_strengths_are_found_again() -> None:
    both = _cells("low", STRENGTHS, 10.0, 2.0) + _cells("high", STRENGTHS, 80.0, -1.0)
    found = rate(list(STRENGTHS), both)
    assert found.units == pytest.approx({"low": 10.0, "high": 80.0})
    assert found.misfit == pytest.approx(0.0, abs=1e-9)
    assert [each.agent for each in found.agents] == ["a", "b", "c"]
    for each in found.agents:
        casting, dispelling = STRENGTHS[each.agent]
        assert (each.casting, each.dispelling) == pytest.approx((casting, dispelling))
        assert each.rating is not None
        assert each.rating.value == pytest.approx((casting + dispelling) / 2)
    best = found.agents[0]
    assert best.worst is not None
    assert (best.against, best.worst.value) == ("b", pytest.approx(0.4))


def test_a_long_name_leaves_all_numbers_in_the_table_of_ratings() -> None:
    strengths = {"runs/duel-fast/caster.npz+runs/duel-fast/dispeller.npz": (0.5, 0.3), "b": (0, 0)}
    ratings = rate(list(strengths), _cells("low", strengths, 10.0, 2.0))
    rating = [asdict(each) for each in ratings.agents]
    (table,) = tables({"scenarios": [], "rating": rating, "misfit": ratings.misfit})
    for one in rating:
        for number in (one["rating"]["value"], one["casting"], one["worst"]["value"]):
            assert f"{number:+.3f}" in table


def test_missing_cells_do_not_move_the_others() -> None:
    """Without one agent in a scenario and with a failed cell, the fit fills the gaps."""
    fewer = {name: STRENGTHS[name] for name in ("b", "c")}
    some = _cells("low", STRENGTHS, 10.0, 2.0) + _cells("high", fewer, 80.0, -1.0)
    some[1] = replace(some[1], points=(), failure=Failure("b", "dispeller", "slow"))
    found = rate(list(STRENGTHS), some)
    assert found.misfit == pytest.approx(0.0, abs=1e-9)
    ratings = {each.agent: each for each in found.agents}
    for name, (casting, dispelling) in STRENGTHS.items():
        rating = ratings[name].rating
        assert rating is not None
        assert rating.value == pytest.approx((casting + dispelling) / 2)
    assert [each.forfeits for each in found.agents] == [0, 0, 1]
    assert found.agents[-1].agent == "b"  # a forfeit ranks below
    nothing = MatchResult("low", "a", "a", (), (0.0, 0.0), Failure("a", "caster", "slow"))
    (only,) = rate(["a"], [nothing]).agents
    assert (only.rating, only.forfeits) == (None, 1)


def test_dice_that_all_share_cancel() -> None:
    cells = _cells("low", STRENGTHS, 10.0, 2.0)
    luck = [tuple(np.roll(cell.points, k)[: 100 - k]) for k, cell in enumerate(cells)]
    own = [replace(cell, points=points) for cell, points in zip(cells, luck, strict=True)]
    for played, least, most in ((cells, -1e-9, 1e-9), (own, 0.05, np.inf)):
        for each in rate(list(STRENGTHS), played).agents:
            assert each.rating is not None
            assert least <= each.rating.high - each.rating.low <= most


class Misbehaving(RandomAgent):
    """Plays at random; a function of the actions and masks replaces its actions."""

    def __init__(self, answer: Callable[[Any, Any], Any]) -> None:
        super().__init__(0)
        self._answer = answer

    def act(self, observations: Any, action_masks: Any, positions: Any = None) -> Any:
        return self._answer(super().act(observations, action_masks), action_masks)


def crash(actions: Any, masks: Any) -> Any:
    raise RuntimeError("out of\n  ideas")


def delay(actions: Any, masks: Any) -> Any:
    time.sleep(0.05)
    return actions


BAD: dict[str, tuple[Callable[[Any, Any], Any], str]] = {
    "crashing": (crash, "RuntimeError: out of ideas"),
    "cheating": (lambda _, masks: np.full(len(masks), masks.shape[1] - 1), "is illegal"),
    "mumbling": (lambda _, masks: np.zeros((len(masks), 2)), "expected integer actions"),
    "slow": (delay, "too slow: "),
}


@pytest.fixture
def misfits(monkeypatch: pytest.MonkeyPatch) -> None:
    def made(name: str, **options: Any) -> Any:
        return Misbehaving(BAD[name][0]) if name in BAD else make_agent(name, **options)

    for module in (matches, running, tournament):
        monkeypatch.setattr(module, "make_agent", made)


@pytest.mark.usefixtures("misfits")
@pytest.mark.parametrize(("name", "seat"), [*zip(BAD, SEATS * 2, strict=True)])
def test_a_misbehaving_agent_forfeits_with_one_line(name: str, seat: str) -> None:
    pair = (name, "veteran") if seat == "caster" else ("veteran", name)
    cell = play_match(_match(*pair, battles=20, seconds=0.001))
    assert cell.failure is not None
    assert (cell.points, cell.failure.agent, cell.failure.seat) == ((), name, seat)
    assert BAD[name][1] in cell.failure.reason
    assert "\n" not in cell.failure.reason
    assert MatchResult.from_json(json.loads(json.dumps(asdict(cell)))) == cell


@pytest.mark.usefixtures("misfits")
def test_the_other_matches_continue(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    players = ["veteran", "crashing", "random"]
    found = run(*players, "--scenario", "apprentice", "--battles", "50", out=tmp_path)
    cells = found["scenarios"][0]["cells"]
    failed = [c for c in cells if c["failure"] is not None]
    values = [(c["failure"]["agent"], c["mean"], c["exact"]) for c in failed]
    assert values == [("crashing", None, None)] * 5
    assert all(c["battles"] == 50 for c in cells if c["failure"] is None)
    last = found["rating"][-1]
    assert (last["agent"], last["rating"], last["forfeits"]) == ("crashing", None, 5)
    line = "apprentice: veteran - crashing failed, crashing as dispeller: RuntimeError: out of"
    assert line in capsys.readouterr().err
    assert (tmp_path / "apprentice.png").is_file()


def test_the_first_answer_takes_as_long_as_it_likes(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, 100.0, 100.1, 100.1, 105.0])
    monkeypatch.setattr("experiments.tournaments.guarding.time.perf_counter", lambda: next(clock))
    agent = GuardedAgent(RandomAgent(0), "it", 0, 1.0)
    masks = np.ones((2, 3), np.bool_)
    for _ in range(2):
        agent.act(np.zeros((2, 1), np.float32), masks)
    assert agent.thinking == pytest.approx(0.05)
    with pytest.raises(ForfeitError, match=r"it as caster: too slow: 1\.2 s a decision"):
        agent.act(np.zeros((2, 1), np.float32), masks)


def test_a_model_of_other_sizes_fails_only_its_cells(tmp_path: Path) -> None:
    path = str(tmp_path / "model.npz")
    limits = fit(pack(load_scenario(DUEL)), 0)
    save_network(PolicyNetwork(limits, width=8), path, {"seat": 0, "scenario": DUEL})
    scenarios = ("--scenario", "apprentice", "--scenario", DUEL)
    found = run("random", path, *scenarios, "--battles", "20", out=tmp_path / "out")
    small, duel = found["scenarios"]
    reasons = [c["failure"]["reason"] for c in small["cells"] if c["failure"] is not None]
    assert sum("model for apprentice of one of these sizes" in each for each in reasons) == 3
    fine = {(c["caster"], c["dispeller"]): c for c in duel["cells"]}
    assert fine[path, "random"]["exact"] is not None
    assert fine[path, "random"]["battles"] == 20
    failure = fine["random", path]["failure"]
    assert failure["seat"] == "dispeller"
    assert "expected a dispeller's model for archmage-duel, found a caster's" in failure["reason"]
    (rating,) = [each for each in found["rating"] if each["agent"] == path]
    assert (rating["rating"], rating["dispelling"]) == (None, None)
    assert rating["casting"] is not None


def test_models_play_in_the_sizes_that_they_declare(tmp_path: Path) -> None:
    path, limits = tmp_path / "wide.npz", generated_limits(KINDS["duel"].sizes)
    torch.manual_seed(2)
    save_network(PolicyNetwork(limits, width=8), path, {"seat": "either", "scenario": "generated"})
    found = run(str(path), "random", "--scenario", DUEL, "--battles", "500", out=tmp_path / "out")
    for cell in found["scenarios"][0]["cells"]:
        assert cell["battles"] == 500
        assert abs(cell["mean"] - cell["exact"]) < 2 * (cell["high"] - cell["low"])


def test_models_that_read_histories_play_in_either_seat(tmp_path: Path) -> None:
    path, packed = str(tmp_path / "history.npz"), pack(load_scenario(DUEL))
    limits = replace(union([fit(packed, seat) for seat in range(2)]), history=True)
    save_network(PolicyNetwork(limits, width=8), path, {"seat": "either", "scenario": DUEL})
    for caster, dispeller in ((path, "veteran"), (path, path)):
        result = play_match(_match(caster, dispeller, battles=20))
        assert (result.failure, len(result.points)) == (None, 20)


def test_an_agent_may_have_one_model_for_each_seat(tmp_path: Path) -> None:
    both = "optimal+random"
    found = run(both, "veteran", "--scenario", "apprentice", "--battles", "30", out=tmp_path)
    exact = {(c["caster"], c["dispeller"]): c["exact"] for c in found["scenarios"][0]["cells"]}
    for cell, caster, dispeller in (
        ((both, "veteran"), "optimal", "veteran"),
        (("veteran", both), "veteran", "random"),
    ):
        assert exact[cell] == pytest.approx(solver.evaluate("apprentice", caster, dispeller))
    assert matches.display_name("runs/a/b/model.zip+runs/c/policy.npz") == "b/model+c/policy"


def test_ticks_have_enough_decimals_to_differ() -> None:
    axis = Figure().add_subplot().xaxis
    for ticks, shown in (
        ([-0.075, -0.05, -0.025, 1e-18], ["-0.075", "-0.050", "-0.025", "0"]),
        ([0.0, 2.0], ["0", "+2.0"]),
        ([0.5], ["+0.5"]),
    ):
        axis.set_ticks(ticks)
        assert [signed_tick(axis, each) for each in ticks] == shown


def test_the_optimal_player_is_left_out_of_unsolvable_scenarios(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    refuse = Mock(side_effect=solver.TooLarge("it does not fit"))

    def made(name: str, **options: Any) -> Any:
        return refuse() if name == "optimal" else make_agent(name, **options)

    monkeypatch.setattr(running, "ExactGame", refuse)
    monkeypatch.setattr(running, "make_agent", made)
    arguments = ["optimal", "veteran", "optimal:0.5", "--scenario", "apprentice"]
    (battle,) = run(*arguments, "--battles", "4", out=tmp_path)["scenarios"]
    assert battle["agents"] == ["veteran"]
    assert battle["absent"] == dict.fromkeys(("optimal", "optimal:0.5"), "it does not fit")
    assert [c["exact"] for c in battle["cells"]] == [None]
    assert "optimal is left out of apprentice" in capsys.readouterr().err


def open_record(folder: Path) -> ResultFile:
    return ResultFile(folder, FILE, "tournament", {})


def test_other_settings_and_a_folder_in_use_are_rejected(tmp_path: Path, scripts: Scripts) -> None:
    small = f"veteran random --scenario apprentice --out {tmp_path} --battles"
    scripts.run(f"experiments.tournament {small} 4")
    before = (tmp_path / FILE).read_bytes()
    error = scripts.error(f"experiments.tournament {small} 5")
    assert f"{tmp_path / FILE} holds another tournament, with battles 4, not 5" in error
    assert (tmp_path / FILE).read_bytes() == before
    with open_record(tmp_path / "other"):
        error = scripts.error(f"experiments.tournament {small} 4 --out {tmp_path / 'other'}")
    assert "another process works on a tournament there" in error


def test_a_full_disk_leaves_other_matches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    full = Mock(side_effect=OSError(errno.ENOSPC, "No space left on device"))
    with open_record(tmp_path) as record:
        record.add({"cell": 1})
        with monkeypatch.context() as patch:
            patch.setattr("os.fsync", full)
            with pytest.raises(OSError, match=r"No space left on device: .*cells"):
                record.add({"cell": 2})
        record.add({"cell": 3})
    with open_record(tmp_path) as again:
        assert again.lines == [{"cell": 1}, {"cell": 3}]
    for damaged in ("points", '{"tournament": 5}', '{"tournament": {}}\nnull', "[" * 100_000):
        (tmp_path / FILE).write_text(f"{damaged}\n")
        with pytest.raises(RecordError, match="expected the results of a tournament"):
            open_record(tmp_path)


@pytest.mark.parametrize("name", ["../../escaped", "/tmp/escaped", "rating"])
def test_scenario_names_cannot_leave_a_folder(name: str, tmp_path: Path, scripts: Scripts) -> None:
    file = tmp_path / "own.toml"
    file.write_text(f'name = "{name}"\n[caster]\n[dispeller]\n')
    line = f"experiments.tournament random --scenario {file} --out {tmp_path / 'out'}"
    assert ": expected " in scripts.error(line)
    assert [*tmp_path.rglob("*")] == [file]


def test_some_players_have_no_exact_value() -> None:
    agents = ("random", "mcts:5", "expectimax:1")
    this = running.load_round("apprentice", agents)
    values = running.exact_values(running.Settings(agents, ("apprentice",)), this, [])
    assert {name for pair in values for name in pair} == {"random", "expectimax:1"}
    this = running.load_round("hidden-scroll", ("optimal", "greedy"))
    assert this.agents == ("greedy",)
    assert "hidden items" in this.absent["optimal"]
