"""Learned shares: what is taken away, what it costs, the fit, runs that go on."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from agents import prices
from agents.prices import (
    Data,
    Sample,
    Settings,
    find_positions,
    fit_shares,
    main,
    measure,
    play_on,
    scenario_of,
    take_away,
    things_to_take,
    worked_out,
)
from experiments.common import INTERRUPTED
from tests.pages import ROOT
from wfb_gym.cli.parser import COULD_NOT_RUN
from wfb_gym.engine.state import Node, new_states
from wfb_gym.envs.scenario_set import pack_all
from wfb_gym.generating import TRAIN_SEEDS
from wfb_gym.players.search.phase_search import PhaseSearchAgent
from wfb_gym.players.search.prices import (
    LEARNED,
    MOST_PHASES,
    Kept,
    Prices,
    load_prices,
    plain_prices,
)
from wfb_gym.scenario import scenario_from_dict

from ..engine.builders import army, lasting, miscast, spell, unit, wizard

SMALL = ("--scenarios", "2", "--battles", "2", "--positions", "2", "--player", "greedy")
LINE = [*SMALL, "--continuation", "greedy"]
TRUE = np.array([0.9, 1.3, 0.6, 0.75])
"""Shares of made-up samples, by kind."""


def _run(folder: Path, *arguments: str) -> dict[str, Any]:
    assert main([*LINE, *arguments, "--out", str(folder)]) == 0
    found: dict[str, Any] = json.loads((folder / "results.json").read_text("utf-8"))
    return found


def _numbers(found: dict[str, Any]) -> Any:
    return found["shares"], found["standard_errors"], found["samples"]


# --- the fit -------------------------------------------------------------------------------------


def _made_up(shares: NDArray[np.float64], count: int = 4000) -> tuple[Data, NDArray[np.float64]]:
    """Return samples of kinds with these shares, (kinds, phases), and what is worked out."""
    rng = np.random.default_rng(1)
    kinds = rng.integers(len(Kept), size=count)
    phases = rng.integers(1, MOST_PHASES + 3, size=count)
    costs = rng.uniform(5.0, 50.0, size=count)
    own = shares[kinds, np.minimum(phases, MOST_PHASES) - 1]
    points = own * costs + rng.normal(0.0, 20.0, size=count)
    return Data(kinds, phases, points, np.ones(count)), costs


def test_one_share_for_each_kind_is_found() -> None:
    data, costs = _made_up(np.tile(TRUE[:, None], MOST_PHASES))
    found, errors = fit_shares(data, lambda _: costs, False, 0.2)
    assert (found == found[:, :1]).all()
    assert 0.005 < errors.min() < errors.max() < 0.05
    assert (np.abs(found[:, 0] - TRUE) < 4.0 * errors[:, 0] + prices.SETTLED).all()


def test_a_share_for_each_number_of_phases_is_found() -> None:
    shares = TRUE[:, None] + np.linspace(-0.2, 0.2, MOST_PHASES)
    data, costs = _made_up(shares, 20_000)
    found, errors = fit_shares(data, lambda _: costs, True, 10.0)
    assert (np.abs(found - shares) < 4.0 * errors).all()
    assert errors.max() < 0.06


def test_shares_that_are_thought_to_be_close_are_drawn_together() -> None:
    data, costs = _made_up(TRUE[:, None] + np.linspace(-0.2, 0.2, MOST_PHASES), 20_000)
    common_ones, _ = fit_shares(data, lambda _: costs, False, 0.2)
    wide, narrow = (
        np.abs(fit_shares(data, lambda _: costs, True, spread)[0] - common_ones).max()
        for spread in (10.0, 0.001)
    )
    assert wide > 0.15
    assert narrow < 0.01


def test_shares_that_count_in_each_others_prices_agree() -> None:
    """Prices contain the shares of phases behind: one that is too great makes the next small."""
    data, costs = _made_up(np.tile(TRUE[:, None], MOST_PHASES))
    asked: list[Prices] = []

    def work_out(shares: Prices) -> NDArray[np.float64]:
        asked.append(shares)
        expected: NDArray[np.float64] = costs * shares[data.kinds, 1] / TRUE[data.kinds]
        return expected

    found, errors = fit_shares(data, work_out, False, 0.2)
    assert (np.abs(found[:, 0] - TRUE) < 4.0 * errors[:, 0] + prices.SETTLED).all()
    assert 1 < len(asked) < prices.ROUNDS
    assert np.abs(found - asked[-1]).max() < prices.SETTLED


def test_a_kind_without_samples_keeps_its_share() -> None:
    data, costs = _made_up(np.tile(TRUE[:, None], MOST_PHASES))
    some = data.kinds != Kept.AID
    found, errors = fit_shares(
        Data(*(each[some] for each in data)), lambda _: costs[some], True, 0.2
    )
    assert np.array_equal(found[Kept.AID], plain_prices(0.85)[Kept.AID])
    assert not errors[Kept.AID].any()
    assert errors[Kept.SCROLL].all()


def test_samples_that_vary_less_count_more() -> None:
    data, costs = _made_up(np.tile(TRUE[:, None], MOST_PHASES))
    wild = np.arange(len(costs)) % 2 == 0
    points = np.where(wild, 9.0 * costs, data.points)
    weights = np.where(wild, 1e-9, 1.0)
    found, _ = fit_shares(
        data._replace(points=points, weights=weights), lambda _: costs, False, 0.2
    )
    assert found[:, 0] == pytest.approx(TRUE, abs=0.1)


# --- what is measured ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def scenario() -> Any:
    """A stone and two wizards against a scroll; nobody can be slain by these spells."""
    caster = army(
        wizard(2, spell("Bolt", 5, 20.0), items=["Power Stone"]),
        wizard(1, lasting("Ward", 7, 0.0, worth_per_phase=12.0), name="Other"),
        power_dice=4,
        units=[unit()],
    )
    dispeller = army(
        wizard(1, spell("Curse", 6, 5.0), name="Reader", items=["Dispel Scroll"]),
        power_dice=2,
        dispel_dice=2,
        units=[unit()],
    )
    return scenario_from_dict(
        {
            "name": "kept", "phases": 5, "caster": caster, "dispeller": dispeller,
            **miscast({"kind": "points_lost", "points": 20.0}),
        }
    )  # fmt: skip


def _positions(scenario: Any, seat: int) -> Any:
    settings = Settings(battles=16, player=("random", "greedy"))
    return find_positions(scenario, seat, settings, prices.FIRST_SEED)


@pytest.mark.parametrize("seat", [0, 1])
def test_positions_are_beginnings_of_phases(scenario: Any, seat: int) -> None:
    found = _positions(scenario, seat)
    assert len(found) > 4
    assert (found.active == seat).all()
    assert (found.node == Node.NOMINATE).all()
    assert len(np.unique(found.phase)) > 1
    assert (found.phase % 2 == seat).all()


def test_things_are_those_that_the_phase_before_has_kept(scenario: Any) -> None:
    packed = pack_all([scenario])[0]
    first = _positions(scenario, 1)[0]  # the scroll's owner is active
    kinds = [kind for kind, _, _ in things_to_take(packed, first)]
    uses = int(first.items.sum())
    assert kinds.count(Kept.SCROLL) + kinds.count(Kept.AID) == uses
    assert kinds.count(Kept.WIZARD) == 2
    assert all(owner == 0 for kind, owner, _ in things_to_take(packed, first) if kind != 0)


def test_what_is_taken_is_gone_and_nothing_is_added(scenario: Any) -> None:
    packed = pack_all([scenario])[0]
    seen = set()
    for seat in (0, 1):
        for state in _positions(scenario, seat):
            things = things_to_take(packed, state)
            for thing in things:
                changed = new_states(1)
                changed[0] = state
                take_away(packed, changed[0], *thing)
                left = things_to_take(packed, changed[0])
                assert set(left) < set(things)
                assert thing not in left
                seen.add(thing[0])
    assert seen == set(Kept)


def test_what_is_no_thing_cannot_be_taken(scenario: Any) -> None:
    with pytest.raises(ValueError, match="no such kind"):
        take_away(pack_all([scenario])[0], new_states(1)[0], len(Kept), 0, 0)


def test_samples_say_what_their_owner_loses(scenario: Any) -> None:
    settings = Settings(battles=16, positions=40, player=("random",))
    samples = measure(scenario, 0, settings)
    assert samples == measure(scenario, 0, settings)
    costs, phases = worked_out(pack_all([scenario]), samples, PhaseSearchAgent())
    for kind, owner in ((Kept.SCROLL, 1), (Kept.AID, 0), (Kept.WIZARD, 0), (Kept.IN_PLAY, 0)):
        own = [i for i, each in enumerate(samples) if (each.kind, each.owner) == (kind, owner)]
        assert np.mean([samples[i].points for i in own]) > 1.0
        assert costs[own].min() > 0.0
    begun = np.array([prices._states_of([each])[0].phase for each in samples])
    casts = np.array([each.owner == 0 for each in samples]) & (begun % 2 == 1)
    assert np.array_equal(phases[casts], (5 - begun[casts]) // 2)  # phases 2 and 4 are the caster's


def test_wizards_share_what_is_to_come_by_their_levels(scenario: Any) -> None:
    state = _positions(scenario, 1)[0]
    samples = [Sample(int(Kept.WIZARD), 0, which, state.tobytes().hex(), 0.0) for which in (0, 1)]
    costs, _ = worked_out(pack_all([scenario]), samples, PhaseSearchAgent())
    assert costs[1] > 1.0
    assert costs[0] == pytest.approx(2.0 * costs[1])


def test_equal_seeds_share_their_dice(scenario: Any) -> None:
    found = _positions(scenario, 0)
    states = new_states(3)
    states[:] = found[0]
    first, again, other = play_on(scenario, 0, states, "greedy", [5, 5, 6])
    assert first == again
    assert first != other


# --- the command ---------------------------------------------------------------------------------


def test_a_quick_run_writes_what_can_be_loaded(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--quick", "--out", str(tmp_path)]) == 0
    assert "shares of worked-out prices" in capsys.readouterr().out
    results = json.loads((tmp_path / "results.json").read_text("utf-8"))
    loaded = load_prices(tmp_path / "results.json")
    assert loaded[Kept.WIZARD].tolist() == results["shares"]["wizard"]
    assert results["samples"]["wizard"] > 0
    lines = (tmp_path / prices.FILE).read_text("utf-8").splitlines()
    assert sum(results["samples"].values()) == len(json.loads(lines[1])["samples"])


def test_a_run_goes_on_where_it_was_interrupted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    measured: list[int] = []

    def interrupted(scenario: Any, number: int, settings: Settings) -> list[Sample]:
        measured.append(number)
        if len(measured) == 2:
            raise KeyboardInterrupt
        return measure(scenario, number, settings)

    monkeypatch.setattr(prices, "measure", interrupted)
    folder = tmp_path / "run"
    assert main([*LINE, "--out", str(folder)]) == INTERRUPTED
    assert "the same command goes on" in capsys.readouterr().err
    assert not (folder / "results.json").exists()
    gone_on = _run(folder)
    assert measured == [0, 1, 1]
    again = _run(folder, "--by-phases")  # fitted anew, nothing is measured
    assert measured == [0, 1, 1]
    assert again["args"]["by_phases"]
    assert _numbers(_run(tmp_path / "whole")) == _numbers(gone_on)
    assert _numbers(_run(folder, "--scenarios", "1")) != _numbers(gone_on)
    assert measured == [0, 1, 1, 0, 1]


def test_other_settings_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = ["--quick", "--continuation", "greedy", "--out", str(tmp_path)]
    assert main(line) == 0
    assert main([*line, "--seed", "1"]) == COULD_NOT_RUN
    assert "holds another measurement, with seed 0, not 1" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--scenarios", "0"], "--scenarios: expected"),
        (["--spread", "0"], "--spread: expected"),
        (["--seed", "-1"], "--seed: expected 0 or more, found -1"),
        (["--player", "veterann"], "did you mean veteran"),
        (["--continuation", "phase-search:9"], "spells of 1 to 7, found 9"),
    ],
)
def test_bad_input_ends_with_one_line(
    arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main([*arguments, "--out", str(tmp_path / "run")])
    assert ended.value.code == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert not (tmp_path / "run").exists()


def test_scenarios_are_of_the_train_split_and_those_of_the_shipped_shares() -> None:
    first = TRAIN_SEEDS.start + prices.FIRST_SCENARIO
    assert first + 1_000_000 in TRAIN_SEEDS
    assert scenario_of(0).name != scenario_of(1).name
    shipped = json.loads(LEARNED.read_text("utf-8"))
    assert shipped["command"].startswith("python -m agents.prices")
    assert shipped == json.loads((ROOT / "docs" / "results" / "prices.json").read_text("utf-8"))
