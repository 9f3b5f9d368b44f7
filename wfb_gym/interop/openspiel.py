"""OpenSpiel: one battle as a Python game with explicit chance nodes.

Imported only on use; needs ``pip install "wfb-gym[openspiel]"``. The game is ``wfb_gym_phase``
(`wfb_gym._registration`). No rule lives here: positions, chances and points are the
engine's. Without hidden items it is a game of perfect information. With them it is one of imperfect
information: chance deals each army its items, which its enemy does not see; all else is public.
"""

from collections.abc import Collection
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

try:
    import pyspiel
except ImportError as error:
    raise ImportError(
        'wfb_gym.interop.openspiel needs open_spiel: pip install "wfb-gym[openspiel]"'
    ) from error

from wfb_gym._records import Records, as_records
from wfb_gym._registration import (
    DEFAULT_SCENARIO,
    openspiel_type,
    register_with_openspiel,
)
from wfb_gym.encoding.actions import action_meanings, army_names
from wfb_gym.encoding.limits import fit
from wfb_gym.encoding.positions import Positions, hide_enemy_items
from wfb_gym.encoding.view import View
from wfb_gym.engine.battle import Battle
from wfb_gym.engine.chance_outcomes import most_outcomes
from wfb_gym.engine.keys import words_of
from wfb_gym.engine.state import STATE, Node, State
from wfb_gym.packing import pack
from wfb_gym.players.interface import Actions, Masks, Observations, Probabilities, draw_actions
from wfb_gym.rules.victory_points import GENERAL_POINTS
from wfb_gym.scenario import Scenario, load_scenario
from wfb_gym.scenario.sizes import ARMIES, DICE, HIDDEN_KINDS

register_with_openspiel(pyspiel)

POINTS_PER_UTILITY = 100.0
"""Points that make a utility of 1."""
_GIVEN = "given-"
_KEPT = 200_000
"""Positions that a game remembers before it forgets them all and begins anew."""
_DECISIONS_PER_SPELL = 64
"""More than an attempt at a spell ever asks for, and more than a spell in play does."""

_given: dict[str, Scenario] = {}
"""Scenarios of `load_battle` that have no name of their own, by that of the game's parameter."""


class Position:
    """A node of the game that all histories leading to it share; it never changes.

    Attributes:
        player: who decides: 0 or 1, or OpenSpiel's chance or terminal player.
        steps: OpenSpiel's actions, ascending: indices of the mover's action space; at a chance
            node the outcomes counted from 0.
        codes: the engine's actions or outcomes of these.
        chances: of the outcomes.
        text: that tells it from every other position of the scenario.
    """

    def __init__(self, store: "_PositionStore", battle: Battle) -> None:
        self.store = store
        self.key = battle.key()
        self.node = battle.node
        self.chances: list[float] = []
        if battle.is_chance():
            outcomes = battle.chance_outcomes()
            self.player = int(pyspiel.PlayerId.CHANCE)
            self.codes = [code for code, _ in outcomes]
            self.chances = [chance for _, chance in outcomes]
            self.steps = list(range(len(outcomes)))
        elif battle.is_decision():
            self.player = battle.mover
            self.codes = battle.legal_actions()
            self.steps = store.views[self.player].codec.index_of[self.codes].tolist()
        else:
            self.player, self.codes, self.steps = int(pyspiel.PlayerId.TERMINAL), [], []
        self.text = store.text_of(battle.state)
        self._next: dict[int, tuple[Position, float]] = {}

    def next_position(self, step: int) -> "tuple[Position, float]":
        """Return the position after a step, and the first army's points on the way."""
        if step not in self._next:
            battle = self.battle()
            code = self.codes[self.steps.index(step)]
            gained = battle.resolve(code) if self.chances else battle.act(code)
            self._next[step] = self.store.position(battle), gained
        return self._next[step]

    def battle(self) -> Battle:
        """Return the position as a battle of its own; its points are those since the position."""
        return self.store.battle(self.key)

    def __deepcopy__(self, memo: object) -> "Position":
        return self


class _PositionStore:
    """The positions of a scenario reached so far, and how both armies see them.

    Attributes:
        deals: the armies that hidden items are dealt to, in order, and their sets by outcome.
    """

    def __init__(self, scenario: Scenario) -> None:
        self.packed = pack(scenario)
        self.views = [View(self.packed, seat, fit(self.packed, seat)) for seat in range(ARMIES)]
        self._blank = battle = Battle(self.packed)
        self._first_words = words_of(battle.state).copy()
        self._known: dict[bytes, Position] = {}
        self.deals = _deals(battle.copy())
        self.opening_points = battle.points
        self.first = self.position(battle)
        names = [army_names(scenario, seat) for seat in range(ARMIES)]
        self.meanings: list[list[str]] = []
        for view in self.views:
            texts = action_meanings(view.limits, names[view.seat], names[1 - view.seat])
            # With their numbers where two are the same.
            self.meanings.append(
                [f"{text} ({k})" if texts.count(text) > 1 else text for k, text in enumerate(texts)]
            )

    def position(self, battle: Battle) -> Position:
        """Where a battle stands."""
        key = battle.key()
        if key not in self._known:
            if len(self._known) >= _KEPT:
                self._known.clear()
                self.first = Position(self, self.battle(self.first.key))
            self._known[key] = Position(self, battle)
        return self._known[key]

    def battle(self, key: bytes) -> Battle:
        """Another battle, at the position of a key and without points."""
        twin = self._blank.copy()
        twin.state.setfield(np.frombuffer(key, STATE)[0], STATE)
        twin.points = 0.0
        return twin

    def text_of(self, state: State) -> str:
        """Return a text that no other position has: the node, and what differs from the start."""
        words = words_of(state)
        changed = np.flatnonzero(words != self._first_words)
        return " ".join([Node(int(state.node)).name, *(f"{k}:{int(words[k]):x}" for k in changed)])

    def veiled(self, position: Position, known: Collection[int]) -> Records[State]:
        """Return a position that is the same whatever was dealt to armies but the known, (1,)."""
        states = as_records(State, np.frombuffer(bytearray(position.key), STATE))
        for army in range(ARMIES):
            if army not in known:
                hide_enemy_items(self.packed, np.zeros(1, np.int64), states, 1 - army)
        return states

    def observation(
        self, position: Position, player: int, known: Collection[int] = range(ARMIES)
    ) -> NDArray[np.float32]:
        """Return an army's observation, float32 (size,)."""
        states = self.veiled(position, known)
        observations, _ = self.views[player].show(np.zeros(1, np.int64), states)
        return observations.reshape(-1)

    @property
    def max_points(self) -> float:
        """Points that the result of no battle exceeds; generous."""
        packed = self.packed[0]
        spells, aims, wizards, units = (
            [army[kind][: army[f"n_{kind}"]] for army in packed.armies]
            for kind in ("spells", "aims", "wizards", "units")
        )
        contacts = packed.contacts[: packed.n_contacts]
        # An attempt may end in a miscast, and that in a free spell of the other army.
        casts = 2 * int(packed.phases) * sum(len(each) for each in spells) + 1
        lives = sum(float((each["models"] * each["points"]).sum()) for each in units)
        lives += sum(float((each["wounds"] * each["points_per_wound"]).sum()) for each in wizards)
        lives += float((contacts["models"] * contacts["points"]).sum())
        if packed.victory_points:
            lives += GENERAL_POINTS * sum(int(each["general"].sum()) for each in wizards)
        wound = max(float(each["points_per_wound"].max(initial=0.0)) for each in wizards)
        aimed = spells + aims
        lasting = sum(float(np.abs(each["worth_per_phase"]).sum()) for each in aimed)
        at_once = max(float(np.abs(each["worth"]).max(initial=0.0)) for each in aimed)
        miscast = float(np.abs(packed.effects["points"]).sum())
        return lives + casts * (at_once + miscast + wound) + int(packed.phases) * lasting


def _deals(battle: Battle) -> list[tuple[int, list[int]]]:
    """Return whom a battle that begins deals hidden items, and which sets; plays these deals."""
    found = []
    while battle.node == Node.DEAL:
        found.append((battle.mover, [code for code, _ in battle.chance_outcomes()]))
        battle.resolve(found[-1][1][0])
    return found


_TYPE = openspiel_type(pyspiel)


class PhaseGame(pyspiel.Game):  # type: ignore[misc]
    """A scenario as a game: player 0 is the first army, returns are points / 100.

    Outcomes of chance nodes are the engine's: those with equal successors are one. Information
    states are positions: what led to one changes neither what may follow nor what it is worth, so
    that a policy of OpenSpiel is one of `wfb_gym.solver`, and the other way round.

    Where items are hidden, the game's type says imperfect information, and information states are
    what the army was dealt and all that happened since: past choices tell what the enemy may hold.

    Args:
        params: ``scenario``: a bundled name, or the path of a scenario file.

    Raises:
        ScenarioError: there is no such scenario, or it is refused.
    """

    def __init__(self, params: dict[str, Any] | None = None) -> None:
        params = params or {}
        name = str(params.get("scenario", DEFAULT_SCENARIO))
        self.scenario = _given[name] if name in _given else load_scenario(name)
        self.store = _PositionStore(self.scenario)
        packed = self.store.packed[0]
        reach = self.store.max_points / POINTS_PER_UTILITY
        attempts = int(packed.phases) * (int(packed.armies["n_spells"].sum()) + 1)
        info = pyspiel.GameInfo(
            num_distinct_actions=max(view.codec.n for view in self.store.views),
            max_chance_outcomes=int(most_outcomes(DICE, bool(packed.armies["rerolls"].any()))),
            num_players=ARMIES,
            min_utility=-reach,
            max_utility=reach,
            utility_sum=0.0,
            max_game_length=attempts * _DECISIONS_PER_SPELL,  # generous
        )
        secrets = self.scenario.has_secrets
        super().__init__(openspiel_type(pyspiel, True) if secrets else _TYPE, info, params)

    def new_initial_state(self) -> "PhaseState":
        """Return the beginning of the battle."""
        return PhaseState(self)

    def make_py_observer(
        self, iig_obs_type: Any = None, params: dict[str, Any] | None = None
    ) -> "PhaseObserver | SecretsObserver":
        """Return an observer; all types of observation are alike where nothing is hidden."""
        if params:
            raise ValueError(f"observer: expected no parameters, found {params}")
        if self.scenario.has_secrets:
            return SecretsObserver(
                self, iig_obs_type or pyspiel.IIGObservationType(perfect_recall=False)
            )
        return PhaseObserver(self.store)


class PhaseState(pyspiel.State):  # type: ignore[misc]
    """A history of a battle.

    Attributes:
        position: that it leads to.
        points: that the first army has won so far.
    """

    def __init__(self, game: PhaseGame) -> None:
        super().__init__(game)
        self.position = game.store.first
        self.points = game.store.opening_points

    def battle(self) -> Battle:
        """Return the position as an engine's battle of its own, with the points won so far."""
        battle = self.position.battle()
        battle.points = self.points
        return battle

    def current_player(self) -> int:
        """Return who decides: 0, 1, chance, or the terminal player once the battle is over."""
        return self.position.player

    def dealt(self, army: int) -> int | None:
        """Return which set of hidden items an army was dealt, from 0; None if none yet."""
        history: list[int] = self.history()
        for (owner, sets), outcome in zip(self.position.store.deals, history, strict=False):
            if owner == army:
                return sets[outcome]
        return None

    def public_history(self) -> list[int]:
        """Return all actions and outcomes of dice so far: the history less the deals."""
        history: list[int] = self.history()[len(self.position.store.deals) :]
        return history

    def _legal_actions(self, player: int) -> list[int]:
        return self.position.steps

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Outcomes counted from 0, with their exact chances."""
        return list(zip(self.position.steps, self.position.chances, strict=True))

    def _apply_action(self, action: int) -> None:
        self.position, gained = self.position.next_position(int(action))
        self.points += gained

    def _action_to_string(self, player: int, action: int) -> str:
        if player == pyspiel.PlayerId.CHANCE:
            return f"{self.position.node.name} outcome {self.position.codes[action]}"
        meaning: str = self.position.store.meanings[player][action]
        return meaning

    def is_terminal(self) -> bool:
        """Whether the battle is over."""
        return self.position.node == Node.END

    def returns(self) -> list[float]:
        """Return the result for each player; zeros before the end."""
        if not self.is_terminal():
            return [0.0, 0.0]
        utility = self.points / POINTS_PER_UTILITY
        return [utility, -utility]

    def __str__(self) -> str:
        return f"{self.position.text} after {self.history_str() or 'nothing'}"


class PhaseObserver:
    """What a player sees where nothing is hidden: `tensor` as environments, strings as positions.

    Attributes:
        tensor: float32 (size,), overwritten by `set_from`; zeros behind a shorter layout.
        dict: the same by name.
    """

    def __init__(self, store: _PositionStore) -> None:
        self._store = store
        self.tensor = np.zeros(max(view.layout.size for view in store.views), np.float32)
        self.dict = {"observation": self.tensor}

    def set_from(self, state: PhaseState, player: int) -> None:
        """Write a player's view of a state to `tensor`."""
        observation = self._store.observation(state.position, player)
        self.tensor.fill(0.0)
        self.tensor[: len(observation)] = observation

    def string_from(self, state: PhaseState, player: int) -> str:
        """Return the position and the player that sees it."""
        return f"player {player} {state.position.text}"


class SecretsObserver:
    """What a player may know where items are hidden, as much of it as a type asks for.

    Never what the enemy was dealt, unless the type says that it knows all. Without the player's own
    deal, observations are what everybody sees.

    Args:
        game: a scenario with hidden items.
        kind: OpenSpiel's type of observation.

    Attributes:
        tensor: float32 (size,), overwritten by `set_from`.
        dict: its parts by name. ``observation``: as the environments show the position, zeros
            behind a shorter layout. ``dealt``: (2, sets), 1 at what an army is known to hold.
            ``history``, for perfect recall: what was done and thrown since the deals, a number
            above 0 for each move, zeros behind them; with ``dealt`` it tells apart all information
            states that strings do.
    """

    def __init__(self, game: PhaseGame, kind: Any) -> None:
        self._store = store = game.store
        private, self._is_public = kind.private_info, bool(kind.public_info)
        self._recalls = self._is_public and bool(kind.perfect_recall)
        self._is_private = private != pyspiel.PrivateInfoType.NONE
        self._knows_all = private == pyspiel.PrivateInfoType.ALL_PLAYERS
        self._moves = max(game.num_distinct_actions(), game.max_chance_outcomes())
        shapes: dict[str, tuple[int, ...]] = {}
        if self._is_public:
            shapes["observation"] = (max(view.layout.size for view in store.views),)
        if self._is_private:
            shapes["dealt"] = (ARMIES, HIDDEN_KINDS)
        if self._recalls:
            shapes["history"] = (game.max_history_length(),)
        sizes = [int(np.prod(shape)) for shape in shapes.values()]
        self.tensor = np.zeros(sum(sizes), np.float32)
        parts = np.split(self.tensor, np.cumsum(sizes)[:-1])
        self.dict = {
            name: part.reshape(shape)
            for (name, shape), part in zip(shapes.items(), parts, strict=True)
        }

    def _known(self, player: int) -> Collection[int]:
        """Return the armies whose deals are told."""
        if self._knows_all:
            return range(ARMIES)
        return [player] if self._is_private else []

    def set_from(self, state: PhaseState, player: int) -> None:
        """Write what a player may know of a state to `tensor`."""
        self.tensor.fill(0.0)
        known = self._known(player)
        if "observation" in self.dict:
            seat = player if self._is_private else 0
            observation = self._store.observation(state.position, seat, known)
            self.dict["observation"][: len(observation)] = observation
        for army in known:
            dealt = state.dealt(army)
            if dealt is not None:
                self.dict["dealt"][army, dealt] = 1.0
        if "history" in self.dict:
            moves = np.array(state.public_history(), np.float32)
            self.dict["history"][: len(moves)] = (moves + 1.0) / self._moves

    def string_from(self, state: PhaseState, player: int) -> str:
        """Return what was dealt, and all moves since or where they led."""
        known = self._known(player)
        words = [f"player {player}"] if self._is_private else []
        for army in known:
            dealt = state.dealt(army)
            words.append("dealt -" if dealt is None else f"dealt {dealt}")
        if self._recalls:
            words += ["moves", *map(str, state.public_history())]
        elif self._is_public:
            words.append(self._store.text_of(self._store.veiled(state.position, known)[0]))
        return " ".join(words)


class PolicyPlayer:
    """A policy of OpenSpiel as a player: in environments, and graded by `wfb_gym.solver`.

    Args:
        game: that the policy is of; the player plays no other scenario.
        policy: has `action_probabilities(state, player)`, as all of `open_spiel.python.policy`. It
            may look at the position of a state, and not at the history that led there.
        seed: of its draws; None draws differently each time.

    Raises:
        ValueError: the game has hidden items, so that its policies go by what led to a position.
    """

    sees_positions = True

    def __init__(self, game: PhaseGame, policy: Any, seed: int | None = None) -> None:
        if game.scenario.has_secrets:
            raise ValueError(
                f"game: expected a scenario without hidden items, found {game.scenario.name}: "
                "policies of it go by histories, which players are not shown"
            )
        self._game, self._policy = game, policy
        self._rng = np.random.default_rng(seed)

    def act(
        self, observations: Observations, action_masks: Masks, positions: Positions | None = None
    ) -> Actions:
        """Draw an action for each row."""
        chances = self.action_probabilities(observations, action_masks, positions)
        return draw_actions(chances, self._rng)

    def action_probabilities(
        self, observations: Observations, action_masks: Masks, positions: Positions | None = None
    ) -> Probabilities:
        """Return the policy's probabilities, float64 (k, actions).

        Raises:
            ValueError: the battles are of another scenario than the policy's.
        """
        store = self._game.store
        if positions is None or positions.packed_scenarios.tobytes() != store.packed.tobytes():
            raise ValueError("policy: expected battles of the scenario that its game is of")
        found = np.zeros(action_masks.shape)
        decides = positions.arrays.decides()
        found[~decides, 0] = 1.0
        state = self._game.new_initial_state()
        codec, own = positions.codec, store.views[positions.seat].codec
        for row in np.flatnonzero(decides):
            state.position = store.position(store.battle(positions.states[row].tobytes()))
            chances = self._policy.action_probabilities(state, positions.seat)
            for action, chance in chances.items():
                found[row, codec.index_of[own.code_of[action]]] = chance
        return found


def load_battle(scenario: Any = DEFAULT_SCENARIO) -> PhaseGame:
    """Load the game of a scenario.

    Args:
        scenario: a bundled name, the path of a scenario file, or a `Scenario`. Of the last, saved
            games and states can be read by this process alone.

    Raises:
        ScenarioError: there is no such scenario, or it is refused.
    """
    name = str(scenario)
    if isinstance(scenario, Scenario):
        name = _GIVEN + sha256(pack(scenario).tobytes()).hexdigest()[:16]
        _given[name] = scenario
    game: PhaseGame = pyspiel.load_game(_TYPE.short_name, {"scenario": name})
    return game
