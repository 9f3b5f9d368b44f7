"""Battles played with description: by two players from the beginning, or on from a position.

Dice are a function of the generator's key and counter, and compiled players of position and
counter. So a copy of the generator from before a step of an environment describes what happened in
that step; only what external opponents chose must be handed in.
"""

from collections.abc import Callable, Iterator, Sequence
from os import PathLike
from typing import TypeAlias

import numpy as np

from wfb_gym._records import as_records
from wfb_gym.encoding.policy_answers import validated_actions
from wfb_gym.encoding.positions import Positions, ask_policy, copy_states, reads_histories
from wfb_gym.encoding.view import View
from wfb_gym.engine.battle import Battle
from wfb_gym.engine.chance import sample
from wfb_gym.engine.generator import Rng, key_of_seed, new_rngs
from wfb_gym.engine.legal import legal_actions
from wfb_gym.engine.state import STATE, State, new_work_spaces
from wfb_gym.opponents.move_tables import no_move_tables
from wfb_gym.opponents.scripted import Scripted, ScriptedPlayer, choose_action, kind_and_epsilon
from wfb_gym.players.interface import Opponent, Policy
from wfb_gym.players.registry import resolve_opponents
from wfb_gym.scenario import Scenario, load_scenario
from wfb_gym.transcripts.narrated_battle import NarratedBattle
from wfb_gym.transcripts.transcript import Transcript, player_label
from wfb_gym.view.events import Event

ChooseAction: TypeAlias = Callable[[Battle, Rng], int]
"""A player at one battle: the engine code of its action; it draws only where it plays at random."""


def play_on(
    narrated: NarratedBattle, rng: Rng, players: Sequence[ChooseAction | None]
) -> Iterator[Event]:
    """Play on to the end, or to a decision of a seat without a player; the generator moves on."""
    battle, scratch = narrated.battle, new_work_spaces()  # of its own: battles go on side by side
    work = scratch[0]
    while not battle.is_over:
        player = players[battle.mover]
        if battle.is_chance():
            dice = battle.dice_to_roll or 0
            outcome = int(sample(battle.packed, battle.state, rng, work))
            yield narrated.resolve(outcome, work.faces[:dice].tolist())
        elif player is None:
            return
        else:
            yield narrated.act(player(battle, rng))


def scripted_chooser(player: ScriptedPlayer) -> ChooseAction:
    """Return what a scripted player, compiled as it is, chooses at one battle at a time."""
    scratch = new_work_spaces()

    def choose(battle: Battle, rng: Rng) -> int:
        packed, state, work = battle.packed, battle.state, scratch[0]
        count = int(legal_actions(packed, state, work))
        return int(choose_action(player, packed, state, work, count, rng))

    return choose


def make_chooser(opponent: Opponent, narrated: NarratedBattle, seat: int) -> ChooseAction:
    """Return what a player chooses in its seat, of any kind that environments take as opponents.

    Raises:
        ValueError: an unknown name; and when a policy answers with an illegal action.
        FileNotFoundError: a saved model that does not exist.
        TooLarge: the scenario has too many positions for optimal play.
    """
    (kind,), policies = resolve_opponents([opponent])
    if policies:
        return _policy_chooser(policies[0], narrated, seat)
    move_tables, move_storage = no_move_tables()
    if kind_and_epsilon(kind)[0] == Scripted.OPTIMAL:
        from wfb_gym.solver.move_tables import load_move_tables  # solves what is not solved yet

        move_tables, move_storage = load_move_tables([narrated.scenario], seat)
    return scripted_chooser(ScriptedPlayer(kind, move_tables[0], move_storage))


def _policy_chooser(policy: Policy, narrated: NarratedBattle, seat: int) -> ChooseAction:
    packed = narrated.battle.packed_scenarios
    view = View.fitted(packed, seat, history=reads_histories(policy))
    scenario = np.zeros(1, np.int64)

    def choose(battle: Battle, rng: Rng) -> int:
        def positions() -> Positions:
            copies, told = copy_states(states, scenario), narrated.histories
            return Positions(packed, scenario, copies, seat, view.codec, told)

        states = as_records(State, np.frombuffer(bytearray(battle.key()), STATE))
        observations, masks = view.show(scenario, states, narrated.histories)
        answer = ask_policy(policy, observations, masks, positions)
        return int(view.codec.code_of[validated_actions(answer, masks, "player")[0]])

    return choose


def rng_of_seed(seed: int) -> Rng:
    """Return a generator's record, as an environment has it after ``reset(seed=seed)``."""
    rngs = new_rngs(1)
    rngs[0] = (key_of_seed(seed), 0, 0)
    return rngs[0]


def record(
    scenario: str | PathLike[str] | Scenario,
    caster: Opponent,
    dispeller: Opponent,
    *,
    seed: int,
    names: tuple[str, str] | None = None,
) -> Transcript:
    """Play a whole battle between two players, and write it down.

    With players that draw nothing of their own, an environment of the same seed plays the same.

    Args:
        scenario: a bundled name, a path, or a `Scenario`.
        caster: plays the first army: a name, a policy, an agent or a saved model's path.
        dispeller: plays the other.
        seed: of the dice, 0 or more.
        names: of the players in the transcript; made from the players themselves unless given.

    Raises:
        ScenarioError: there is no such scenario, or it is refused.
        ValueError: an unknown player, one that answers with an illegal action, or a name that is
            longer than 100 characters, blank or not printable.
    """
    narrated = NarratedBattle(load_scenario(scenario))
    players = [make_chooser(each, narrated, seat) for seat, each in enumerate((caster, dispeller))]
    events = tuple(play_on(narrated, rng_of_seed(seed), players))
    names = names or (player_name(caster), player_name(dispeller))
    return Transcript(narrated.scenario, names, seed, events, narrated.battle.points, over=True)


def player_name(player: Opponent) -> str:
    """Name of a player in a transcript."""
    if isinstance(player, str):
        return player_label(player)
    name = getattr(player, "name", None) or getattr(player, "__name__", None)
    shown = name or (player if hasattr(player, "__fspath__") else type(player).__name__)
    return player_label(str(shown))
