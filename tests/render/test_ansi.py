"""Text for terminals: contents, with and without colours, and the modes of environments."""

import copy
import math
import pickle
import re
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from tests.support.builders import aimed, army, known, spell, unit, wizard
from tests.support.packed import scenario as new_scenario
from tests.support.playing import IDS, narrate, pick, raw, recorded
from wfb_gym.engine.actions import FIRST_CAST, FIRST_DICE, FIRST_ITEM, FIRST_TARGET, PASS
from wfb_gym.envs.battles import BattleEnv
from wfb_gym.envs.single import CasterEnv
from wfb_gym.envs.vector import CasterVectorEnv
from wfb_gym.envs.watching import RENDER_MODES
from wfb_gym.packing.records import Lock
from wfb_gym.render.ansi import frame
from wfb_gym.scenario import load_scenario
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


def line_of(narrated: NarratedBattle, name: str) -> str:
    return next(line for line in frame_lines(narrated) if line.startswith(f"  {name} "))


def test_a_duel_from_the_beginning_to_the_end(duel: NarratedBattle) -> None:
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
    events = narrate(duel, FIRST_CAST + 1, FIRST_DICE + 2, (5, 5))
    lines = frame_lines(duel, events, seat=1)
    assert lines[:4] == [
        "> Archmage begins to cast Fiery Blast (8+).",
        "> Archmage throws 2 dice.",
        "* 5 5: 10 against 8, Fiery Blast is cast.",
        "",
    ]
    assert {
        "The dispeller, you to decide  ■■■■ 4 dispel dice",
        "     8+ Fiery Blast                  being cast",
    } <= {*lines}
    assert lines[-1] == "Pending: Fiery Blast (8+), 10 to match"
    duel.act(FIRST_ITEM)
    assert {
        "     8+ Fiery Blast                  tried",
        "        items: Dispel Scroll (used)",
        "The caster, you to decide  ■■■■ 4 power dice",
    } <= {*frame_lines(duel)}
    duel.act(PASS)
    assert frame_lines(duel)[0] == "archmage-duel, over: the score is even"


def status_words(narrated: NarratedBattle, spell: str) -> set[str]:
    """Return the descriptions of a spell of the first army in the text and in the web UI."""
    from wfb_gym.render.html import army_blocks

    (line,) = (each for each in frame_lines(narrated) if f"+ {spell}" in each)
    card = "".join(army_blocks(narrated.view(), 0))
    (shown,) = re.findall(rf'{spell}</span>.*?class="status">(.*?)</span>', card)
    return {line.partition(spell)[2].strip(), shown}


def test_the_status_of_spells(duel: NarratedBattle) -> None:
    """A spell without a target is not castable, also while another one is cast."""
    caster = army(wizard(2, known("Fire Ball"), known("The Oxen Stands")), units=[unit("Bows")])
    narrated = NarratedBattle(new_scenario(caster, army(units=[unit("Spears")])))
    assert status_words(narrated, "Fire Ball") == {"can be cast"}
    assert status_words(narrated, "The Oxen Stands") == {"no target"}
    narrated.act(FIRST_CAST)
    assert status_words(narrated, "The Oxen Stands") == {"no target"}
    assert status_words(narrated, "Fire Ball") == {"being cast"}
    duel.visible.state.lock[0, 0] = Lock.PHASE_END
    duel.visible.state.castable = 0
    assert status_words(duel, "Fire Ball") == {"not now"}  # but not tried
    assert "  Archmage: level 4, 3 of 3 wounds, no casting this phase" in frame_lines(duel)


def test_a_total_beyond_all_dispel_dice_is_no_number() -> None:
    caster = army(wizard(4, spell("Bolt", 8, 40.0), spell("Blast")), power_dice=6)
    narrated = NarratedBattle(new_scenario(caster, army(wizard(4), dispel_dice=2)))
    events = narrate(narrated, FIRST_CAST, FIRST_DICE + 3, (5, 5, 6))
    pending = "Pending: Bolt (8+), too high for any dispel roll"
    assert frame_lines(narrated, events, seat=1)[-1] == pending
    more = "more than dispel dice can match"
    assert [event.words for event in narrate(narrated, FIRST_DICE + 2, (5, 5))] == [
        f"The dispeller tries to dispel with 2 dice against {more}.",
        f"5 5: 10 against {more}, Bolt is not dispelled. 40 points to the caster.",
    ]


def test_rolled_and_bound_spells() -> None:
    narrated = NarratedBattle(load_scenario("horrors-in-the-mist"))
    lore = {slot.spell.name for slot in narrated.names.spells[0] if slot.wizard == 1}
    while not narrated.battle.is_decision():
        narrated.roll(*[3] * (narrated.battle.dice_to_roll or 1))
    shown = "\n".join(frame_lines(narrated))
    assert len([name for name in lore if name in shown.split("Mist Wardens")[0]]) == 1
    assert "not known" not in shown
    ring = {"name": "Ring", "bound": {"power_level": 3, "spell": {"name": "Fire Ball"}}}
    caster = army(wizard(1, items=["Ring"]))
    narrated = NarratedBattle(new_scenario(caster, army(units=[unit()]), items=[ring]))
    assert "   PL 3 Fire Ball (Ring)" in "\n".join(frame_lines(narrated))


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


def test_units_their_losses_and_flight() -> None:
    skirmish = NarratedBattle(load_scenario("border-skirmish"))
    who, fled = skirmish.scenario.caster.wizards[0], skirmish.scenario.caster.units[1]
    assert who.unit == fled.name
    assert not any("flees" in line for line in frame_lines(skirmish))
    skirmish.visible.state.fleeing[0] = 1 << 1 | 1 << UNITS
    lines = [line for line in frame_lines(skirmish) if line.endswith("flees")]
    assert [line.split("  ")[1].partition(":")[0] for line in lines] == [who.name, fled.name]
    each = skirmish.scenario.dispeller.units[0]
    assert line_of(skirmish, each.name).endswith(f"########## {each.models:>3} of {each.models}")
    skirmish.visible.state.unit_wounds[1, 0] -= 1
    losses = f"{each.models - 1:>3} of {each.models}  -{each.points:g} points"
    assert line_of(skirmish, each.name).endswith(losses)
    rules = skirmish.scenario.rules.model_copy(update={"scoring": "victory_points"})
    narrated = NarratedBattle(skirmish.scenario.model_copy(update={"rules": rules}))
    shown = []
    for lost in (each.models // 2, each.models // 2 + 1):
        narrated.visible.state.unit_wounds[1, 0] = each.models - lost
        shown.append(line_of(narrated, each.name).partition(f" of {each.models}")[2])
    assert shown == ["", f"  -{math.ceil(each.models * each.points / 2)} points"]


@pytest.mark.parametrize("scenario", ["seventh-edition-duel", "border-skirmish"])
def test_colours_add_no_information(scenario: str) -> None:
    narrated = NarratedBattle(load_scenario(scenario))
    for number, event in enumerate(recorded(scenario).events[:60]):
        step = narrated.act if event.kind == "decision" else narrated.resolve
        events = [step(event.code)]
        if number % 4:
            continue
        plain = frame_lines(narrated, events)
        coloured = frame_lines(narrated, events, colour=True)
        assert [CODES.sub("", line) for line in coloured] == plain
        assert coloured != plain
        assert not any(CODES.search(line) or line != line.rstrip() for line in plain)


def test_no_color(monkeypatch: pytest.MonkeyPatch, duel: NarratedBattle) -> None:
    for value in ("1", ""):
        monkeypatch.setenv("NO_COLOR", value)
        assert bool(CODES.search(frame(duel.scenario, duel.visible, ()))) == (value == "")


@pytest.mark.needs("PIL")
def test_render_shows_the_picture_of_the_position() -> None:
    from wfb_gym.render.picture import picture

    env = raw(IDS[1], render_mode="rgb_array", opponent="veteran")
    env.reset(seed=0)
    narrated = env.batch.watcher.narrated_battle(env.batch, 0)
    events = env.batch.watcher.events[0]
    assert events
    shown = picture(narrated.scenario, narrated.visible, events, seat=1)
    assert np.array_equal(env.render(), shown)


def test_without_a_mode_nothing_is_rendered() -> None:
    env = raw(IDS[0])
    env.reset(seed=0)
    with pytest.warns(UserWarning, match="without a render_mode"):
        assert env.render() is None
    envs: Any = gym.make_vec(IDS[0], num_envs=2)
    envs.reset(seed=0)
    assert envs.render() is None
    assert envs.unwrapped.batch.watcher is None


def test_modes_and_the_step_that_render_shows() -> None:
    for kind in (CasterEnv, BattleEnv, CasterVectorEnv):
        with pytest.raises(ValueError, match=r"render_mode: expected None, ansi, rgb_array, found"):
            kind(render_mode="human")
    env: Any = gym.make(IDS[0], render_mode="ansi", opponent="greedy")
    for made in (env, gym.make_vec(IDS[0], num_envs=2)):
        assert tuple(made.metadata["render_modes"]) == RENDER_MODES
        assert made.metadata["render_fps"] == 2
    with pytest.raises(gym.error.ResetNeeded):
        env.unwrapped.render()
    _, info = env.reset(seed=0)
    assert "Archmage: level 4" in env.render()
    env.step(int(info["action_mask"].nonzero()[0][-1]))
    assert "Archmage begins to cast Conflagration of Doom (11+)." in env.render()
    assert env.render() == env.render()


def test_copies_are_described_too() -> None:
    env = raw(IDS[0], render_mode="ansi", scenario="border-skirmish")
    observation, info = env.reset(seed=0)
    for _ in range(3):
        observation, _, _, _, info = env.step(pick(observation, info["action_mask"]))
    twins = copy.deepcopy(env), pickle.loads(pickle.dumps(env))
    action = pick(observation, info["action_mask"])
    for step in (None, action):
        shown = set()
        for each in (env, *twins):
            if step is not None:
                each.step(step)
            shown.add(each.render())
        assert len(shown) == 1
