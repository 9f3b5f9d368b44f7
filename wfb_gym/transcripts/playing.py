"""Players asked for one decision at a time, and whole battles between two of them."""

from typing import Any

import numpy as np

from wfb_gym._records import as_records
from wfb_gym.encoding.limits import fit
from wfb_gym.encoding.policy_answers import validated_actions
from wfb_gym.encoding.positions import Positions, ask_policy, copy_states
from wfb_gym.encoding.view import View
from wfb_gym.engine.battle import Battle
from wfb_gym.engine.generator import key_of_seed, new_rngs
from wfb_gym.engine.state import STATE, State
from wfb_gym.opponents.move_tables import no_move_tables
from wfb_gym.opponents.scripted import Scripted, kind_and_epsilon
from wfb_gym.players.interface import Opponent
from wfb_gym.players.registry import resolve_opponents
from wfb_gym.scenario import load_scenario
from wfb_gym.transcripts.format import Transcript
from wfb_gym.transcripts.recorder import roll, scripted_choice
from wfb_gym.transcripts.telling import Telling


def rng_of_seed(seed: int) -> Any:
    """A generator's record, as an environment has it after ``reset(seed=seed)``."""
    rngs = new_rngs(1)
    rngs[0] = (key_of_seed(seed), 0, 0)
    return rngs[0]


class Player:
    """Whoever may sit at a battle, asked for one decision at a time.

    Args:
        opponent: as environments take one: a name, a policy, an agent, a saved model's path.
        telling: the battle that he plays in.
        seat: his: 0 or 1.

    Raises:
        ValueError: an unknown name.
        FileNotFoundError: a saved model that is not there.
        TooLarge: the scenario has too many positions for optimal play.
    """

    def __init__(self, opponent: Opponent, telling: Telling, seat: int) -> None:
        kinds, policies = resolve_opponents([opponent])
        self._kind, self._policy = kinds[0], policies.get(0)
        self._move_tables, self._move_storage = no_move_tables()
        packed_scenarios = telling.battle.packed_scenarios
        if self._policy is not None:
            self._view = View(packed_scenarios, seat, fit(packed_scenarios, seat))
        elif kind_and_epsilon(self._kind)[0] == Scripted.OPTIMAL:
            from wfb_gym.solver.move_tables import load_move_tables  # solves what is not solved yet

            self._move_tables, self._move_storage = load_move_tables([telling.scenario], seat)

    def choose(self, battle: Battle, rng: Any) -> int:
        """Engine code of what he does.

        Args:
            battle: at a decision of his.
            rng: the generator's record, for players who play at random.

        Raises:
            ValueError: a policy answers with what is no legal action.
        """
        if self._policy is None:
            return scripted_choice(
                self._kind, battle, rng, self._move_tables[0], self._move_storage
            )
        view, which = self._view, np.zeros(1, np.int64)
        states = as_records(State, np.frombuffer(bytearray(battle.key()), STATE))
        observations, masks = view.show(which, states)
        answer = ask_policy(
            self._policy,
            observations,
            masks,
            lambda: Positions(
                view.packed_scenarios, which, copy_states(states, which), view.seat, view.codec
            ),
        )
        action = validated_actions(np.asarray(answer).reshape(-1), masks, "player")
        return int(view.codec.code_of[action[0]])


def record(
    scenario: Any,
    caster: Opponent,
    dispeller: Opponent,
    *,
    seed: int,
    names: tuple[str, str] | None = None,
) -> Transcript:
    """A whole battle between two players, written down.

    With players who draw nothing of their own, an environment of the same seed plays the same.

    Args:
        scenario: a bundled name, a path, or a `Scenario`.
        caster: plays the first army: a name, a policy, an agent or a saved model's path.
        dispeller: plays the other.
        seed: of the dice, 0 or more.
        names: of the players in the transcript; made from the players themselves unless given.

    Raises:
        ScenarioError: there is no such scenario, or it is refused.
        ValueError: no such player, or one who does what is not legal.
    """
    loaded = load_scenario(scenario)
    telling = Telling(loaded)
    given = (caster, dispeller)
    players = [Player(who, telling, seat) for seat, who in enumerate(given)]
    rng = rng_of_seed(seed)
    battle, events = telling.battle, []
    while not battle.is_over:
        if battle.is_chance():
            events.append(roll(telling, rng))
        else:
            events.append(telling.act(players[battle.mover].choose(battle, rng)))
    called = names or (name_of(caster), name_of(dispeller))
    return Transcript(loaded, called, seed, tuple(events), battle.points, over=True)


def name_of(player: Opponent) -> str:
    """What to call a player in a transcript."""
    if isinstance(player, str):
        return player
    name = getattr(player, "name", None) or getattr(player, "__name__", None)
    return str(name or (player if hasattr(player, "__fspath__") else type(player).__name__))
