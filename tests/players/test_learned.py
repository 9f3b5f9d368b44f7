"""Learned players: guarantees of the network, and its file."""

import json
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch

from tests.support.batches import states_of
from tests.support.builders import army, game, known, spell, unit, wizard
from tests.support.commands import CommandLine
from wfb_gym import solver
from wfb_gym.encoding.limits import fit, union
from wfb_gym.encoding.view import View
from wfb_gym.engine.actions import FIRST_CAST
from wfb_gym.engine.battle import Battle
from wfb_gym.engine.state import Node
from wfb_gym.files import DamagedFileError
from wfb_gym.packing import pack
from wfb_gym.players.learned import NetworkAgent, likeliest_actions
from wfb_gym.players.network import Entities, PolicyNetwork, load_network, save_network
from wfb_gym.players.registry import make_agent
from wfb_gym.scenario import Scenario, load_scenario

from . import network_answers
from .asking import Asked, met
from .damage import count_rejected

DUEL = "archmage-duel"
SHAPES = network_answers.SHAPES
ANSWERS = json.loads(network_answers.FILE.read_text(encoding="utf-8"))


def network_for(scenario: str | Scenario, seat: int, shape: str) -> PolicyNetwork:
    torch.manual_seed(0)
    network = PolicyNetwork(fit(pack(load_scenario(scenario)), seat), shape, 16)
    with torch.no_grad():  # as if it had learned: logits of some size
        for weights in network.parameters():
            weights.mul_(1.5).add_(0.05 * torch.randn_like(weights))
    return network


def probabilities_of(network: PolicyNetwork, observations: Any, masks: Any) -> Any:
    """Return the probabilities of a network; the values are finite."""
    with torch.no_grad():
        log_probs, values = network(torch.from_numpy(observations), torch.from_numpy(masks))
    assert values.isfinite().all()
    return log_probs.exp().numpy()


def assert_legal(agent: NetworkAgent, shown: Asked) -> None:
    chosen = agent.act(*shown)
    assert shown.masks[np.arange(len(chosen)), chosen].all()


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    path = tmp_path / "policy.npz"
    save_network(network_for(DUEL, 1, "flat"), path, {"seat": 1})
    return path


@pytest.mark.parametrize(
    ("scenario", "seat", "shape"),
    [(DUEL, 0, "entities"), ("orc-shaman-hunt", 1, "flat"), ("border-skirmish", 1, "entities")],
)
def test_illegal_actions_have_no_chance(scenario: str, seat: int, shape: str) -> None:
    shown = met(scenario, seat)
    network = network_for(scenario, seat, shape)
    probabilities = probabilities_of(network, shown.observations, shown.masks)
    assert (probabilities[~shown.masks] == 0.0).all()
    assert probabilities.sum(1) == pytest.approx(1.0, abs=1e-5)
    assert_legal(NetworkAgent(network, seat), shown)


def test_every_point_of_a_comet_has_a_chance() -> None:
    foes = [unit(f"{x}", 20, position=[x, 30.0], facing=180.0) for x in (16.0, 28.0)]
    mage = wizard(4, known("The Comet of Casandora"), position=[24.0, 4.0])
    field = {"width": 48.0, "depth": 48.0}
    battle = game(army(mage), army(units=foes), battlefield=field, phases=3)
    battle.act(FIRST_CAST)
    assert battle.node == Node.TARGET
    network = network_for(battle.scenario, 0, "entities")
    assert network.limits.own.comet_points == len(battle.legal_actions()) > 1
    view = View(battle.packed_scenarios, 0, network.limits)
    observations, masks = view.show(np.zeros(1, np.int64), states_of(battle))
    assert np.array_equal(probabilities_of(network, observations, masks) > 0.0, masks)


def test_a_casting_bonus_lowers_the_number_needed_but_not_below_0() -> None:
    mage = wizard(1, spell("Dart", 3), spell("Beam", 8), items=["Rod"])
    battle = game(army(mage, power_dice=2), items=[{"name": "Rod", "cast_bonus": 5}])
    network = network_for(battle.scenario, 0, "entities")
    body, view = network.body, View(battle.packed_scenarios, 0, network.limits)
    assert isinstance(body, Entities)
    seen = torch.from_numpy(view.show(np.zeros(1, np.int64), states_of(battle))[0])
    casts = body._casts(body._members(seen, "own", "spell"), body._casters(seen, "own"))
    assert casts.need.tolist() == [[0, 3]]


@pytest.mark.parametrize("key", network_answers.KEYS)
def test_networks_answer_as_before(key: str) -> None:
    assert len(ANSWERS[key]) >= 4
    for wanted, found in zip(ANSWERS[key], network_answers.answers(key), strict=True):
        assert found == pytest.approx(wanted, abs=3e-5)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_new_network_is_nearly_indifferent(shape: str) -> None:
    torch.manual_seed(0)
    for name, seat in ((DUEL, 0), ("border-skirmish", 1)):
        shown = met(name, seat, num_envs=4)
        network = PolicyNetwork(fit(pack(load_scenario(name)), seat), shape, 16)
        chances = probabilities_of(network, shown.observations, shown.masks)
        times_count = chances * shown.masks.sum(1, keepdims=True)
        assert times_count[shown.masks] == pytest.approx(1.0, abs=0.1)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_file_holds_the_network(shape: str, tmp_path: Path) -> None:
    network = network_for(DUEL, 1, shape)
    path = tmp_path / "deep" / "policy.npz"
    save_network(network, str(path), {"seat": 1, "scenario": DUEL, "score": 12.5})
    assert [each.name for each in path.parent.iterdir()] == ["policy.npz"]
    again, about = load_network(path)
    assert about["score"] == 12.5
    assert again.limits == network.limits
    shown = met(DUEL, 1)
    agent = make_agent(path, seat=1)
    assert isinstance(agent, NetworkAgent)
    assert agent.seat == 1
    expected = NetworkAgent(network, 1).act(shown.observations, shown.masks)
    assert np.array_equal(agent.act(shown.observations, shown.masks), expected)


def test_other_files_than_networks_are_rejected(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="expected a saved network, found no file"):
        make_agent(tmp_path / "none.npz")
    other = tmp_path / "other.npz"
    other.write_text("no")
    with pytest.raises(ValueError, match="expected a saved network, found a damaged or unsup"):
        make_agent(other)


def changed(path: Path, about: dict[str, Any] | None = None, **weights: Any) -> Path:
    """Write a network again with part of its description or weights changed; None: removed."""
    with np.load(path) as held:
        arrays = {name: held[name] for name in held.files}
    arrays["about"] = np.array(json.dumps(json.loads(str(arrays["about"])) | (about or {})))
    arrays |= {name.replace("__", "."): each for name, each in weights.items()}
    other = path.with_name("changed.npz")
    np.savez_compressed(other, **{name: each for name, each in arrays.items() if each is not None})
    return other


BIAS = "body__actor__bias"


@pytest.mark.parametrize(
    ("about", "weights", "message"),
    [
        ({"width": 10**9}, {}, "expected float32 or float16 of shape"),
        ({"width": 10**30}, {}, "damaged or unsupported"),
        ({"width": 0}, {}, "width: expected a whole number from 1, found 0"),
        ({"width": True}, {}, "width: expected a whole number from 1, found True"),
        ({"width": "16"}, {}, "width: expected a whole number from 1, found '16'"),
        ({"shape": "deep"}, {}, "expected the shape"),
        ({"shape": "entities"}, {}, "expected [0-9]+ members, found 9"),
        ({"notes": "x" * 2**20}, {}, "about: expected a text of at most 1,048,576"),
        ({"limits": None}, {}, "damaged or unsupported"),
        ({"seat": 2}, {}, 'expected a network of seat 0 or 1, or of "either", found 2'),
        ({"seat": "\x1b[2J"}, {}, r"found '\\x1b\[2J'$"),
        ({"seat": "x" * 1000}, {}, r"found 'x{59}\.\.\.$"),
        ({}, {BIAS: None}, "expected 9 members, found 8: 1 missing .'body.actor.bias.npy'"),
        ({}, {"more": np.zeros(1, np.float32)}, "expected 9 members, found 10: .* .'more.npy'"),
        ({}, {"more": np.zeros(65 * 2**20, np.int8)}, "unpacks to .*, expected at most 67,108,864"),
        ({}, {BIAS: np.zeros(3, np.float32)}, "actor.bias: expected float32 or float16 of shape"),
        ({}, {BIAS: np.zeros(3)}, "actor.bias: expected float32 or float16 of shape"),
        ({}, {"body__critic__bias": np.array([np.inf], np.float32)}, "expected finite numbers"),
    ],
)
def test_a_network_that_contradicts_its_description_is_rejected(
    saved: Path, about: dict[str, Any], weights: dict[str, Any], message: str
) -> None:
    assert isinstance(make_agent(changed(saved)), NetworkAgent)
    other = changed(saved, about, **weights)
    with pytest.raises(DamagedFileError, match=rf"^{other}: .*{message}"):
        make_agent(other)


def test_half_precision_halves_a_file_and_rounds_its_weights(tmp_path: Path) -> None:
    network, sizes = network_for(DUEL, 1, "flat"), []
    for numbers in ("float32", "float16"):
        path = tmp_path / f"{numbers}.npz"
        save_network(network, path, {"seat": 1}, numbers)
        sizes.append(path.stat().st_size)
        for name, each in load_network(path)[0].state_dict().items():
            kept = network.state_dict()[name]
            assert each.dtype == torch.float32
            assert torch.equal(each, kept.half().float() if numbers == "float16" else kept)
    assert sizes[1] < 0.7 * sizes[0]


def test_a_damaged_file_is_rejected_with_one_error(saved: Path) -> None:
    assert count_rejected(saved) > 150


def test_weights_of_files_are_not_drawn_first(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Drawing takes time proportional to the cube of the width."""
    drawn, draw = [], torch.nn.init.orthogonal_

    def note(weight: torch.Tensor, gain: float) -> Any:
        drawn.append(0 if weight.is_meta else min(weight.shape))
        return draw(weight, gain)

    monkeypatch.setattr(torch.nn.init, "orthogonal_", note)
    network, _ = load_network(saved)
    assert max(drawn) == 1
    assert all(each.requires_grad and not each.is_meta for each in network.parameters())
    assert not any(each.is_meta for each in network.buffers())


def test_a_command_names_a_damaged_file(saved: Path, capsys: pytest.CaptureFixture[str]) -> None:
    saved.write_bytes(b"PK\x03\x04" + bytes(50))
    message = CommandLine(capsys).error("play apprentice --opponent", str(saved))
    expected = "expected a saved network, found a damaged or unsupported file"
    assert message.startswith(f"{saved}: {expected}")


def test_a_player_of_one_scenario_rejects_another() -> None:
    agent = NetworkAgent(network_for(DUEL, 0, "flat"), 0)
    shown = met("orc-shaman-hunt", 0)
    with pytest.raises(ValueError, match="expected observations of size 68 and"):
        agent.act(shown.observations, shown.masks)


@pytest.fixture(scope="module")
def general() -> NetworkAgent:
    limits = union([fit(pack(load_scenario(name)), 0) for name in (DUEL, "orc-shaman-hunt")])
    torch.manual_seed(1)
    return NetworkAgent(PolicyNetwork(limits, "entities", 16), 0, general=True)


def test_a_network_is_not_a_policy_until_it_is_wrapped() -> None:
    env: Any = gym.make("wfb_gym/Caster-v0", scenario="apprentice")
    plain = torch.nn.Linear(env.observation_space.shape[0], int(env.action_space.n))
    network = PolicyNetwork(env.unwrapped.limits, shape="flat", width=8)
    for module in (plain, network):
        message = f"found the PyTorch module {type(module).__name__}; wrap it"
        with pytest.raises(ValueError, match="policy: .* " + message):
            solver.normalised_score("apprentice", module, "caster")
        with pytest.raises(ValueError, match="opponent: .* " + message):
            gym.make("wfb_gym/Dispeller-v0", scenario="apprentice", opponent=module)
    assert solver.normalised_score("apprentice", NetworkAgent(network), "caster").score is not None


@pytest.mark.parametrize("scenario", [DUEL, "orc-shaman-hunt"])
def test_a_general_player_plays_smaller_scenarios(general: NetworkAgent, scenario: str) -> None:
    assert_legal(general, met(scenario, 0))
    env: Any = gym.make("wfb_gym/Dispeller-v0", scenario=scenario, opponent=general)
    env.reset(seed=0)
    exact = solver.normalised_score(scenario, general, 0)
    assert exact.guaranteed <= exact.optimum + 1e-9


def test_a_general_player_needs_positions_within_its_limits(general: NetworkAgent) -> None:
    shown, other, larger = met(DUEL, 0), met(DUEL, 1), met("border-skirmish", 1)
    with pytest.raises(ValueError, match="expected positions, which a network"):
        general.act(shown.observations, shown.masks)
    with pytest.raises(ValueError, match="expected positions of seat 0, found seat 1"):
        general.act(*other)
    packed = pack(load_scenario(DUEL))
    network = PolicyNetwork(union([fit(packed, 0), fit(packed, 1)]), "entities", 16)
    either = NetworkAgent(network, None, general=True)
    assert_legal(either, shown)
    assert_legal(either, other)
    with pytest.raises(ValueError, match=r"within the network's limits; limits: .*own\.units"):
        either.act(*larger)


@pytest.mark.parametrize("is_general", [False, True])
def test_networks_sample_or_take_the_likeliest(general: NetworkAgent, is_general: bool) -> None:
    shown = met(DUEL, 0)
    network = general.network if is_general else network_for(DUEL, 0, "flat")
    likeliest = NetworkAgent(network, 0, general=is_general)
    sampling = NetworkAgent(network, 0, general=is_general, deterministic=False, seed=3)
    chances, certain = (each.action_probabilities(*shown) for each in (sampling, likeliest))
    assert chances.sum(axis=1) == pytest.approx(1.0)
    assert (chances[~shown.masks] == 0.0).all()
    for each in (chances, certain):
        assert (each.argmax(axis=1) == likeliest.act(*shown)).all()
    assert set(np.unique(certain)) == {0.0, 1.0}
    drawn = np.mean([np.eye(chances.shape[1])[sampling.act(*shown)] for _ in range(400)], axis=0)
    assert np.abs(drawn - chances).max() < 0.15
    assert (sampling.act(*shown) != sampling.act(*shown)).any()


def test_the_way_to_play_is_part_of_a_models_name(tmp_path: Path) -> None:
    path = tmp_path / "caster.npz"
    save_network(network_for(DUEL, 0, "flat"), path, {"seat": 0, "scenario": DUEL})
    likeliest, sampled, plain = (
        solver.normalised_score(DUEL, f"{way}{path}", 0).guaranteed
        for way in ("argmax:", "sample:", "")
    )
    assert plain == likeliest != sampled


def test_a_general_player_returns_its_probabilities(general: NetworkAgent) -> None:
    shown = met(DUEL, 0)
    rows = np.flatnonzero(shown.positions.arrays.decides())[::3]
    codes, chances = general.chances_at(shown.positions.arrays, rows)
    legal = chances >= 0.0
    assert np.where(legal, chances, 0.0).sum(1) == pytest.approx(1.0, abs=1e-5)
    indices = shown.positions.codec.index_of[codes]
    assert np.array_equal(legal, (indices >= 0) & shown.masks[rows[:, None], indices])
    chosen = general.act(*shown)
    assert np.array_equal(indices[chances.argmax(1)], chosen[rows])


def test_points_are_scaled_by_the_castable_spells() -> None:
    scenario = spells_game({"Spark": 10.0, "Bolt": 40.0, "Storm": 80.0})
    network = network_for(scenario, 0, "entities")
    view = View(pack(scenario), 0, network.limits)
    battle = Battle(pack(scenario))
    states, seen = states_of(battle), []
    for barred in (0, 0b100, 0b110):
        states["castable"] = int(battle.state.castable) & ~barred
        observations, _ = view.show(np.zeros(1, np.int64), states)
        seen.append(float(network.value_unit(torch.from_numpy(observations))))
    assert seen == pytest.approx([0.8, 0.4, 0.1])
    assert float(network.greatest_spell_value(torch.from_numpy(observations))) == pytest.approx(0.8)


CASTING_VALUES = {"Spark": 5, "Bolt": 8, "Storm": 11}


def spells_game(worths: dict[str, float], points: float = 100.0) -> Scenario:
    spells = [spell(name, CASTING_VALUES[name], worth) for name, worth in worths.items()]
    return game(army(wizard(3, *spells, points=points)), army(dispel_dice=3)).scenario


def opening(scenario: Scenario, network: PolicyNetwork) -> dict[str, float]:
    """Return probabilities of the opening nominations by spell name, and of stopping."""
    view = View(pack(scenario), 0, network.limits)
    shown = view.show(np.zeros(1, np.int64), states_of(Battle(pack(scenario))))
    chances = probabilities_of(network, *shown)[0]
    first, count = view.codec.ranges["spells"]
    names = ["stop", *(spell.name for spell in scenario.caster.wizards[0].spells)]
    return dict(zip(names, [chances[0], *chances[first : first + count]], strict=True))


PLAIN = {"Spark": 10.0, "Bolt": 20.0, "Storm": 40.0}


@pytest.mark.parametrize("shape", SHAPES)
def test_points_have_no_unit(shape: str) -> None:
    plain = spells_game(PLAIN)
    dearer = spells_game({"Spark": 30.0, "Bolt": 60.0, "Storm": 120.0}, 300.0)
    network = network_for(plain, 0, shape)
    assert opening(dearer, network) == pytest.approx(opening(plain, network), abs=1e-4)
    other = spells_game({"Spark": 30.0, "Bolt": 20.0, "Storm": 40.0})
    assert opening(other, network) != pytest.approx(opening(plain, network), abs=1e-3)


def test_the_order_of_spells_does_not_matter_to_entities() -> None:
    plain = spells_game(PLAIN)
    turned = spells_game({name: PLAIN[name] for name in ("Storm", "Spark", "Bolt")})
    probabilities = {}
    for shape in SHAPES:
        network = network_for(plain, 0, shape)
        probabilities[shape] = opening(plain, network), opening(turned, network)
    assert probabilities["entities"][0] == pytest.approx(probabilities["entities"][1], abs=1e-5)
    assert probabilities["flat"][0] != pytest.approx(probabilities["flat"][1], abs=1e-3)


@pytest.mark.parametrize("logit", [-3e38, -np.inf, np.nan])
def test_weights_that_overflow_choose_a_legal_action(logit: float) -> None:
    logits = torch.tensor([[-1e9, logit, -1e9], [np.nan, -1e9, logit]], dtype=torch.float32)
    masks = np.array([[False, True, False], [False, True, True]])
    chosen = likeliest_actions(lambda *_: logits, np.zeros((2, 4), np.float32), masks)
    assert chosen.tolist() == [1, 1]
