"""A position as one viewer sees it: both armies and the current step.

Renderers use only this view, not the engine's state.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import NamedTuple

from wfb_gym.engine import queries
from wfb_gym.engine.battle import Battle
from wfb_gym.engine.morale import tested_leadership
from wfb_gym.engine.nodes import BEFORE_BATTLE, CASTING_ROLLS, DISPEL_ROLLS, NODES, STRIKE_ROLLS
from wfb_gym.engine.state import DispelAttempt, Node
from wfb_gym.scenario.sizes import DICE, SPELLS, TARGETS
from wfb_gym.view.armies import ArmyView, army_name, view_army
from wfb_gym.view.hidden_sets import ALL_ARMIES, armies_known, redact
from wfb_gym.view.names import ScenarioNames, dice_phrase, points_phrase, power_phrase
from wfb_gym.view.rolls import faces_on_table

LEVEL = 0.05  # a lead of less than this many points counts as level


class StepView(NamedTuple):
    """The current step."""

    army: int | None  # the army that decides or rolls, or None if the battle is over
    text: str  # the army and its current step, in words
    spell: str = ""  # the spell at stake, or "" if there is none
    details: str = ""  # more about the spell or the position
    dice: int = 0  # dice that are committed but not thrown yet
    faces: tuple[int, ...] = ()  # faces of dice that were thrown and may be re-rolled


@dataclass(frozen=True)
class PositionView:
    """A position as a viewer sees it.

    Attributes:
        scenario: the scenario's name.
        viewer: the viewer's army, or None for a spectator.
        phase: index of the phase, from 0.
        phases: number of phases in the battle.
        stage: the phase in words, "over" or "before the battle".
        is_over: whether the battle is over.
        points: points won so far, from the first army's perspective.
        point: unit in which scores are given, "point" or "victory point".
        leader: the leading army, or None if level.
        score: the leader and its lead, in words.
        armies: both armies.
        step: the current step.
        pending: the spell being cast and the number to match, or "" if there is none.
    """

    scenario: str
    viewer: int | None
    phase: int
    phases: int
    stage: str
    is_over: bool
    points: float
    point: str
    leader: int | None
    score: str
    armies: tuple[ArmyView, ...]
    step: StepView
    pending: str


def view_position(
    names: ScenarioNames,
    battle: Battle,
    viewer: int | None = None,
    known: Collection[int] | None = None,
    *,
    with_points: bool = True,
) -> PositionView:
    """Return a position as a viewer sees it.

    Args:
        names: display names used in the scenario.
        battle: the visible position (`wfb_gym.transcripts.NarratedBattle.visible`).
        viewer: the viewer's army, or None for a spectator.
        known: armies whose hidden items are shown. Defaults to the viewer's army, or to both armies
            for a spectator or once the battle is over.
        with_points: whether to compute the spells' expected points, which takes time.
    """
    known = armies_known(battle, viewer) if known is None else known
    battle = redact(battle, known)
    phase, phases = int(battle.state.phase), int(battle.packed.phases)
    stage = f"phase {phase + 1} of {phases}"
    if battle.is_over or battle.node in BEFORE_BATTLE:
        stage = "over" if battle.is_over else "before the battle"
    return PositionView(
        names.scenario.name,
        viewer,
        phase,
        phases,
        stage,
        battle.is_over,
        battle.points,
        names.point,
        None if abs(battle.points) < LEVEL else int(battle.points < 0),
        points_phrase(names, battle.points),
        tuple(
            view_army(names, battle, army, army in known, with_points=with_points)
            for army in ALL_ARMIES
        ),
        _view_step(names, battle),
        _pending(names, battle),
    )


def _pending(names: ScenarioNames, battle: Battle) -> str:
    pending, number = names.pending(battle), int(battle.state.number)
    if battle.is_over or not battle.state.spell or pending is None:
        return ""
    match = f", {number} to match" if number else ""
    if _is_beyond_dispel(battle):
        match = ", too high for any dispel roll"
    return f"{names.spell(*pending)}{names.at_pending_target(battle)}{match}"


def _view_step(names: ScenarioNames, battle: Battle) -> StepView:
    if battle.is_over:
        result, leader = "a draw", army_name(names, int(battle.points <= 0))
        if abs(battle.points) >= LEVEL:
            result = f"{leader} wins by {abs(battle.points):.1f} {names.point}s"
        return StepView(None, "The battle is over", details=result)
    army, node, state = battle.mover, battle.node, battle.state
    action = NODES[node].words if battle.is_decision() else f"rolls {NODES[node].words}"
    text = f"{army_name(names, army)} {action}"
    if node == Node.DEAL:
        text = f"Hidden items are dealt to {army_name(names, army)}"
    committed = int(state.dice if node in CASTING_ROLLS + DISPEL_ROLLS else state.reserve)
    dice, faces = min(DICE, committed), tuple(faces_on_table(battle))
    at_stake = names.pending(battle)
    if state.striking:
        owner, spell = divmod(int(state.striking) - 1, SPELLS)
        at_stake = owner, spell
    if at_stake is None:
        return StepView(army, text, "", _position_details(names, battle), dice, faces)
    words = names.spell(*at_stake) + _at_target(names, battle, *at_stake)
    return StepView(army, text, words, _spell_details(names, battle), dice, faces)


def _at_target(names: ScenarioNames, battle: Battle, army: int, spell: int) -> str:
    """Return the target of a spell being cast or in play, as a suffix (" at ...")."""
    state, active = battle.state, int(battle.state.active)
    being_cast = (active, int(state.spell) - 1), (1 - active, int(state.free) - 1)
    if (army, spell) not in being_cast:
        target = names.in_play_target(battle, army, spell)
        markers = names.markers(battle, army, spell)
        return (f" on {target}" if target else "") + (f" with {markers}" if markers else "")
    aim = int(state.aim if (army, spell) == being_cast[0] else state.free_aim)
    target = names.target_of_aim(battle, army, spell, aim)
    return f" at {target}" if target else ""


def _position_details(names: ScenarioNames, battle: Battle) -> str:
    """Describe the position at a step that involves no spell."""
    state = battle.state
    if battle.node == Node.IN_PLAY:
        in_play = [
            names.spell(army, spell) + _at_target(names, battle, army, spell)
            for army in (0, 1)
            for spell in range(len(names.spells[army]))
            if int(state.in_play[army]) >> spell & 1
        ]
        return f"in play: {', '.join(in_play)}"
    if battle.node == Node.ROLL_RALLY or battle.node == Node.ROLL_PANIC:
        who = names.target(battle.mover, int(state.cursor) % TARGETS + 1)
        return f"{who}, Leadership {int(tested_leadership(battle.packed, state))}"
    if battle.node != Node.NOMINATE:
        return ""
    power = power_phrase(int(state.power), [int(state.own_dice.sum())])
    return f"{power} against {dice_phrase(int(state.dispel), 'dispel')}"


def _is_beyond_dispel(battle: Battle) -> bool:
    """Return whether no dispel dice can match the total, in which case it is not stored exactly."""
    packed, state = battle.packed, battle.state
    may_dispel = battle.node == Node.DISPEL and state.attempt == DispelAttempt.CAST
    return bool(may_dispel and state.number >= queries.highest_dispel(packed, state))


def _spell_details(names: ScenarioNames, battle: Battle) -> str:
    """Describe the spell at stake."""
    state = battle.state
    if battle.node in STRIKE_ROLLS:
        return f"strikes {names.victim(battle)}"
    if int(state.row) or battle.node == Node.ROLL_MISCAST:
        return "miscast"
    attempt, number = DispelAttempt(int(state.attempt)), int(state.number)
    if attempt == DispelAttempt.NONE:
        return "a free spell" if state.free else "being cast"
    if attempt == DispelAttempt.CAST:
        if _is_beyond_dispel(battle):
            return "cast, too high for any dispel roll"
        return f"cast with {number}: match it to dispel"
    if attempt == DispelAttempt.FREE:
        return f"a free spell: match {number} to dispel"
    if attempt == DispelAttempt.IN_PLAY:
        return f"in play: match {number} to dispel"
    raise ValueError(f"attempt: expected NONE, CAST, FREE or IN_PLAY, found {attempt!r}")
