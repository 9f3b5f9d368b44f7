"""Record battles between two players, from the start or from a given position.

Dice depend only on the generator's key and counter, and compiled players only on the position and
the counter. A copy of the generator taken before an environment step therefore reproduces that
step. Only external opponents' actions must be passed in.
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
from wfb_gym.engine.legal import legal_actions
from wfb_gym.engine.random_numbers import Rng, key_of_seed, new_rngs
from wfb_gym.engine.state import STATE, State, new_work_spaces
from wfb_gym.opponents.dispatch import Scripted, ScriptedPlayer, choose_action, kind_and_epsilon
from wfb_gym.opponents.move_tables import no_move_tables
from wfb_gym.opponents.policy_spec import PolicySpec
from wfb_gym.players.interface import Opponent, Policy
from wfb_gym.players.registry import resolve_opponents
from wfb_gym.scenario import Scenario, load_scenario
from wfb_gym.transcripts.narrated_battle import NarratedBattle
from wfb_gym.transcripts.transcript import Transcript, player_label
from wfb_gym.view.events import Event

ChooseAction: TypeAlias = Callable[[Battle, Rng], int]
"""Returns the engine code of a player's action; uses the generator only for random play."""


def play_on(
    narrated: NarratedBattle, rng: Rng, players: Sequence[ChooseAction | None]
) -> Iterator[Event]:
    """Play to the end, or to a decision for a seat without a player (None), and yield the events.

    The generator, which throws the dice, is advanced in place.
    """
    battle, scratch = narrated.battle, new_work_spaces()  # own scratch: generators may interleave
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
    """Wrap a compiled scripted player so that it plays a single battle."""
    scratch = new_work_spaces()

    def choose(battle: Battle, rng: Rng) -> int:
        packed, state, work = battle.packed, battle.state, scratch[0]
        count = int(legal_actions(packed, state, work))
        return int(choose_action(player, packed, state, work, count, rng))

    return choose


def make_chooser(opponent: Opponent, narrated: NarratedBattle, seat: int) -> ChooseAction:
    """Return a function that chooses actions for an opponent of any kind that environments accept.

    Raises:
        ValueError: if the name is unknown. The returned function raises it if a policy returns an
            illegal action.
        FileNotFoundError: if the saved model does not exist.
        TooLarge: if the scenario has too many positions for optimal play.
    """
    (kind,), policies = resolve_opponents([opponent])
    if policies:
        return _policy_chooser(policies[0], narrated, seat)
    move_tables, move_storage = no_move_tables()
    if kind_and_epsilon(kind)[0] == Scripted.OPTIMAL:
        from wfb_gym.solver.move_tables import load_move_tables  # solves the scenario if necessary

        move_tables, move_storage = load_move_tables([narrated.scenario], seat)
    return scripted_chooser(ScriptedPlayer(kind, move_tables[0], move_storage))


def make_seeded_chooser(
    opponent: Opponent, narrated: NarratedBattle, seat: int, seed: int
) -> ChooseAction:
    """Return `make_chooser` for an opponent whose own randomness, if it has any, follows a seed.

    Only names and paths are seeded, not policies and agents.

    Raises:
        ValueError: if the opponent is unknown, or if it is "optimal" and the scenario has hidden
            items.
        FileNotFoundError: if the saved model does not exist.
        ImportError: if the model needs an extra that is not installed.
        TooLarge: if the scenario has too many positions for the optimal player.
    """
    if isinstance(opponent, str | PathLike):
        spec, scenario = PolicySpec.parse(opponent, "opponent"), narrated.scenario
        if scenario.has_hidden_items and spec.name == "optimal":
            raise ValueError(
                f"opponent {opponent}: expected a scenario in which nothing is hidden, found "
                f"hidden items in {scenario.name}; veteran and search play it"
            )
        if not spec.is_scripted:
            opponent = spec.make(seed=seed, scenario=scenario, seat=seat)
    return make_chooser(opponent, narrated, seat)


def _policy_chooser(policy: Policy, narrated: NarratedBattle, seat: int) -> ChooseAction:
    packed = narrated.battle.packed_scenarios
    view = View.fitted(packed, seat, history=reads_histories(policy))
    scenario = np.zeros(1, np.int64)

    def choose(battle: Battle, rng: Rng) -> int:
        def positions() -> Positions:
            copies, histories = copy_states(states, scenario), narrated.histories
            return Positions(packed, scenario, copies, seat, view.codec, histories)

        states = as_records(State, np.frombuffer(bytearray(battle.key()), STATE))
        observations, masks = view.show(scenario, states, narrated.histories)
        answer = ask_policy(policy, observations, masks, positions)
        return int(view.codec.code_of[validated_actions(answer, masks, "player")[0]])

    return choose


def rng_of_seed(seed: int) -> Rng:
    """Return the generator record that an environment has after ``reset(seed=seed)``."""
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
    """Play a complete battle between two players and return its transcript.

    If the players use no randomness of their own, an environment with the same seed plays the same
    battle.

    Args:
        scenario: a bundled name, a path, or a `Scenario`.
        caster: player for the first army: a name, a policy, an agent, or the path of a saved model.
        dispeller: player for the second army.
        seed: seed for the dice, 0 or more.
        names: the players' names in the transcript. If None, they are derived from the players.

    Raises:
        ScenarioError: if the scenario does not exist or is invalid.
        ValueError: if a player is unknown or returns an illegal action, or if a name is blank,
            unprintable or longer than 100 characters.
    """
    narrated = NarratedBattle(load_scenario(scenario))
    players = [make_chooser(each, narrated, seat) for seat, each in enumerate((caster, dispeller))]
    events = tuple(play_on(narrated, rng_of_seed(seed), players))
    names = names or (player_name(caster), player_name(dispeller))
    return Transcript(narrated.scenario, names, seed, events, narrated.battle.points, over=True)


def player_name(player: Opponent) -> str:
    """Return a player's name for a transcript."""
    if isinstance(player, str):
        return player_label(player)
    name = getattr(player, "name", None) or getattr(player, "__name__", None)
    shown = name or (player if hasattr(player, "__fspath__") else type(player).__name__)
    return player_label(str(shown))
