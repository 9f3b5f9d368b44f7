"""Text for terminals: contents, with and without colours, and the modes of environments."""

import copy
import math
import pickle
import re
import sys
from types import ModuleType
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from tests.support.builders import aimed, army, known, spell, unit, wizard
from tests.support.packed import scenario as new_scenario
from tests.support.playing import IDS, narrate, pick, raw, recorded
from wfb_gym.engine.actions import FIRST_CAST, FIRST_DICE, FIRST_ITEM, FIRST_TARGET, PASS
from wfb_gym.envs.battles import BattleEnv
from wfb_gym.envs.single import CasterEnv, DispellerEnv
from wfb_gym.envs.vector import CasterVectorEnv
from wfb_gym.envs.watching import RENDER_MODES
from wfb_gym.packing.records import Lock
from wfb_gym.render.ansi import frame
from wfb_gym.scenario import bundled_scenarios, load_scenario
from wfb_gym.scenario.sizes import TARGETS, UNITS
from wfb_gym.transcripts import NarratedBattle

CODES = re.compile(r"\x1b\[[0-9;]*m")


def frame_lines(
    narrated: NarratedBattle, events: Any = (), *, colour: bool = False, seat: int = 0
) -> list[str]:
    return frame(narrated.scenario, narrated.visible, events, seat=seat, colour=colour).split("\n")


@pytest.fixture
def duel() -> NarratedBattle:
    return NarratedBattle(load_scenario("archmage-duel"))


@pytest.fixture
def skirmish() -> NarratedBattle:
    return NarratedBattle(load_scenario("border-skirmish"))


def line_of(narrated: NarratedBattle, name: str) -> str:
    """Return the line of a unit."""
    return next(line for line in frame_lines(narrated) if line.startswith(f"  {name} "))


def test_only_rolled_spells_of_a_lore_are_shown() -> None:
    narrated = NarratedBattle(load_scenario("horrors-in-the-mist"))
    lore = {slot.spell.name for slot in narrated.names.spells[0] if slot.wizard == 1}
    while not narrated.battle.is_decision():
        narrated.roll(*[3] * (narrated.battle.dice_to_roll or 1))
    shown = "\n".join(frame_lines(narrated))
    assert len([name for name in lore if name in shown.split("Mist Wardens")[0]]) == 1
    assert "not known" not in shown


def test_a_duel_as_it_begins(duel: NarratedBattle) -> None:
    assert frame_lines(duel) == [
        "archmage-duel, phase 1 of 1: the score is even",
        "The caster, you to decide  ■■■■■■ 6 power dice",
        "  Archmage: level 4, 3 of 3 wounds",
        "     5+ Fire Ball                    can be cast",
        "     8+ Fiery Blast                  can be cast",
        "     9+ Burning Head                 can be cast",
        "    11+ Conflagration of Doom        can be cast",
        "The dispeller  ■■■■ 4 dispel dice",
        "  Rival Archmage: level 4, 3 of 3 wounds",
        "        items: Dispel Scroll",
    ]


def test_a_spell_is_pending(duel: NarratedBattle) -> None:
    events = narrate(duel, FIRST_CAST + 1, FIRST_DICE + 2, (5, 5))
    lines = frame_lines(duel, events, seat=1)
    assert lines[:4] == [
        "> Archmage begins to cast Fiery Blast (8+).",
        "> Archmage throws 2 dice.",
        "* 5 5: 10 against 8, Fiery Blast is cast.",
        "",
    ]
    assert "The dispeller, you to decide  ■■■■ 4 dispel dice" in lines
    assert "     8+ Fiery Blast                  being cast" in lines
    assert lines[-1] == "Pending: Fiery Blast (8+), 10 to match"


def status_words(narrated: NarratedBattle, spell: str) -> tuple[str, str]:
    """Return the descriptions of a spell of the first army in the text and in the web UI."""
    from wfb_gym.render.html import army_blocks

    (line,) = (each for each in frame_lines(narrated) if f"+ {spell}" in each)
    card = "".join(army_blocks(narrated.view(), 0))
    (shown,) = re.findall(rf'{spell}</span>.*?class="status">(.*?)</span>', card)
    return line.partition(spell)[2].strip(), shown


def test_the_status_of_spells_while_one_is_cast() -> None:
    """A spell without a target is not castable, also while another one is cast."""
    caster = army(wizard(2, known("Fire Ball"), known("The Oxen Stands")), units=[unit("Bows")])
    narrated = NarratedBattle(new_scenario(caster, army(units=[unit("Spears")])))
    assert status_words(narrated, "Fire Ball") == ("can be cast", "can be cast")
    assert status_words(narrated, "The Oxen Stands") == ("no target", "no target")
    narrated.act(FIRST_CAST)
    assert status_words(narrated, "The Oxen Stands") == ("no target", "no target")
    assert status_words(narrated, "Fire Ball") == ("being cast", "being cast")


def test_untried_spells_of_a_barred_wizard_are_not_called_tried(duel: NarratedBattle) -> None:
    assert status_words(duel, "Fire Ball") == ("can be cast", "can be cast")
    duel.visible.state.lock[0, 0] = Lock.PHASE_END
    duel.visible.state.castable = 0
    assert status_words(duel, "Fire Ball") == ("not now", "not now")
    assert "  Archmage: level 4, 3 of 3 wounds, no casting this phase" in frame_lines(duel)


def test_a_total_beyond_all_dispel_dice_is_no_number() -> None:
    caster = army(wizard(4, spell("Bolt", 8, 40.0), spell("Blast")), power_dice=6)
    narrated = NarratedBattle(new_scenario(caster, army(wizard(4), dispel_dice=2)))
    events = narrate(narrated, FIRST_CAST, FIRST_DICE + 3, (5, 5, 6))
    assert frame_lines(narrated, events, seat=1)[-1] == (
        "Pending: Bolt (8+), too high for any dispel roll"
    )
    assert [event.words for event in narrate(narrated, FIRST_DICE + 2, (5, 5))] == [
        "The dispeller tries to dispel with 2 dice against more than dispel dice can match.",
        (
            "5 5: 10 against more than dispel dice can match, Bolt is not dispelled. "
            "40 points to the caster."
        ),
    ]


def test_used_and_tried_spells_and_items(duel: NarratedBattle) -> None:
    narrate(duel, FIRST_CAST + 1, FIRST_DICE + 2, (5, 5), FIRST_ITEM)
    lines = frame_lines(duel)
    assert "     8+ Fiery Blast                  tried" in lines
    assert "        items: Dispel Scroll (used)" in lines
    assert "The caster, you to decide  ■■■■ 4 power dice" in lines
    duel.act(PASS)
    assert frame_lines(duel)[0] == "archmage-duel, over: the score is even"


def test_bound_spells_have_a_power_level() -> None:
    lines = frame_lines(NarratedBattle(load_scenario("the-winds-unbound")))
    assert "   PL 3 Fire Ball (Ring of Flame)" in lines


def test_items_are_listed_below_their_bearers() -> None:
    bearers = [
        wizard(2, known("Fire Ball"), name=name, items=items)
        for name, items in (("Anna", ["Dispel Scroll"] * 2), ("Bert", ["Dispel Scroll"]))
    ]
    caster = army(*bearers, items=["Luckstone"])
    narrated = NarratedBattle(new_scenario(caster, army(units=[unit()])))

    def items() -> list[str]:
        return [line.strip() for line in frame_lines(narrated) if "items" in line]

    state = narrated.visible.state
    of_army = "items of the army: Luckstone"
    assert items() == ["items: Dispel Scroll x2", "items: Dispel Scroll", of_army]
    scrolls = next(k for k, slot in enumerate(narrated.names.items[0]) if slot.bearer == 0)
    state.items[0, scrolls] = 0
    assert items() == ["items: Dispel Scroll x2 (used)", "items: Dispel Scroll", of_army]
    state.wounds[0, 1] = 0
    assert items()[1] == "items: Dispel Scroll (lost)"


def test_spells_in_play_have_their_targets_and_a_comet_its_markers() -> None:
    hex_ = aimed("Hex", duration="remains_in_play", worth={"points": 5.0})
    caster = army(wizard(4, known("The Comet of Casandora"), hex_), power_dice=4)
    foes = army(units=[unit("Left"), unit("Right")])
    narrated = NarratedBattle(new_scenario(caster, foes, phases=4))
    for number, target in ((0, 1), (1, 0)):
        aim = FIRST_TARGET + 1 + TARGETS + target
        narrate(narrated, FIRST_CAST + number, aim, FIRST_DICE + 2, (6, 6))
    lines = frame_lines(narrated)
    assert "    11+ The Comet of Casandora       in play, 1 marker on Right" in lines
    assert "     5+ Hex                          in play on Left" in lines
    narrated.visible.state.markers[0, 0] = 2
    narrated.visible.state.wounds[0, 0] = 0  # it stays in play after its caster's death
    assert any(line.endswith("in play, 2 markers on Right") for line in frame_lines(narrated))


def test_units_and_their_losses(skirmish: NarratedBattle) -> None:
    each = skirmish.scenario.dispeller.units[0]
    assert line_of(skirmish, each.name).endswith(f"########## {each.models:>3} of {each.models}")
    skirmish.visible.state.unit_wounds[1, 0] -= 1
    losses = f"{each.models - 1:>3} of {each.models}  -{each.points:g} points"
    assert line_of(skirmish, each.name).endswith(losses)


def test_fleeing_units(skirmish: NarratedBattle) -> None:
    who, unit = skirmish.scenario.caster.wizards[0], skirmish.scenario.caster.units[1]
    assert who.unit == unit.name
    assert not any("flees" in line for line in frame_lines(skirmish))
    skirmish.visible.state.fleeing[0] = 1 << 1 | 1 << UNITS
    lines = [line for line in frame_lines(skirmish) if line.endswith("flees")]
    assert [line.split("  ")[1].partition(":")[0] for line in lines] == [who.name, unit.name]


def test_losses_in_victory_points() -> None:
    scenario = load_scenario("border-skirmish")
    rules = scenario.rules.model_copy(update={"scoring": "victory_points"})
    narrated = NarratedBattle(scenario.model_copy(update={"rules": rules}))
    each = narrated.scenario.dispeller.units[0]
    shown = []
    for lost in (each.models // 2, each.models // 2 + 1):
        narrated.visible.state.unit_wounds[1, 0] = each.models - lost
        shown.append(line_of(narrated, each.name).partition(f" of {each.models}")[2])
    assert shown == ["", f"  -{math.ceil(each.models * each.points / 2)} points"]


@pytest.mark.parametrize("scenario", bundled_scenarios())
def test_colours_add_no_information(scenario: str) -> None:
    narrated = NarratedBattle(load_scenario(scenario))
    for number, event in enumerate(recorded(scenario).events[:60]):
        events = [
            narrated.act(event.code) if event.kind == "decision" else narrated.resolve(event.code)
        ]
        if number % 4:
            continue
        plain = frame_lines(narrated, events)
        coloured = frame_lines(narrated, events, colour=True)
        assert [CODES.sub("", line) for line in coloured] == plain
        assert coloured != plain
        assert not any(CODES.search(line) or line != line.rstrip() for line in plain)


def test_no_color(monkeypatch: pytest.MonkeyPatch, duel: NarratedBattle) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert not CODES.search(frame(duel.scenario, duel.visible, ()))
    monkeypatch.delenv("NO_COLOR")
    assert CODES.search(frame(duel.scenario, duel.visible, ()))


# --- environments --------------------------------------------------------------------------


def test_render_shows_the_step_and_the_position() -> None:
    env = gym.make(IDS[0], render_mode="ansi", opponent="greedy")
    _, info = env.reset(seed=0)
    assert "Archmage: level 4" in str(env.render())
    env.step(int(info["action_mask"].nonzero()[0][-1]))
    assert "Archmage begins to cast Conflagration of Doom (11+)." in str(env.render())
    assert env.render() == env.render()


def test_pictures_use_the_same_arguments(monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment gives the picture the same arguments as the text."""
    drawn = ModuleType("wfb_gym.render.picture")
    calls: list[Any] = []

    def picture(scenario: Any, battle: Any, events: Any, *, seat: int) -> Any:
        calls.append((scenario.name, battle.key(), [event.words for event in events], seat))
        return np.zeros((4, 5, 3), np.uint8)

    monkeypatch.setattr(drawn, "picture", picture, raising=False)
    monkeypatch.setitem(sys.modules, drawn.__name__, drawn)
    env = raw(IDS[1], render_mode="rgb_array", opponent="veteran")
    env.reset(seed=0)
    assert env.render().shape == (4, 5, 3)
    ((name, key, words, seat),) = calls
    assert (name, seat) == ("archmage-duel", 1)
    assert key == env.batch.watcher.narrated_battle(env.batch, 0).visible.key()
    assert words[0].startswith("Archmage begins to cast")


def test_without_a_mode_nothing_is_rendered() -> None:
    env = raw(IDS[0])
    env.reset(seed=0)
    with pytest.warns(UserWarning, match="without a render_mode"):
        assert env.render() is None
    envs: Any = gym.make_vec(IDS[0], num_envs=2)
    envs.reset(seed=0)
    assert envs.render() is None
    assert envs.unwrapped.batch.watcher is None


def test_render_before_reset() -> None:
    with pytest.raises(gym.error.ResetNeeded):
        raw(IDS[0], render_mode="ansi").render()


@pytest.mark.parametrize("kind", [CasterEnv, DispellerEnv, BattleEnv, CasterVectorEnv])
def test_an_unknown_mode(kind: Any) -> None:
    with pytest.raises(ValueError, match="render_mode: expected None, ansi, rgb_array, found 'hu"):
        kind(render_mode="human")


def test_modes_are_declared() -> None:
    env, envs = raw(IDS[0]), gym.make_vec(IDS[0], num_envs=2)
    for made in (env, envs):
        assert tuple(made.metadata["render_modes"]) == RENDER_MODES
        assert made.metadata["render_fps"] == 2


@pytest.mark.parametrize("mode", ["sync", "vector_entry_point"])
def test_a_frame_of_every_environment(mode: str) -> None:
    envs = gym.make_vec(IDS[1], num_envs=3, vectorization_mode=mode, render_mode="ansi")
    envs.reset(seed=1)
    frames: Any = envs.render()
    assert len(frames) == 3
    single = raw(IDS[1], render_mode="ansi")
    single.reset(seed=2)
    assert frames[1] == single.render()
    envs.close()


@pytest.mark.parametrize("again", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_copies_are_described_too(again: Any) -> None:
    env = raw(IDS[0], render_mode="ansi", scenario="border-skirmish")
    observation, info = env.reset(seed=0)
    for _ in range(3):
        observation, _, _, _, info = env.step(pick(observation, info["action_mask"]))
    twin = again(env)
    assert twin.render() == env.render()
    action = pick(observation, info["action_mask"])
    twin.step(action)
    env.step(action)
    assert twin.render() == env.render()
