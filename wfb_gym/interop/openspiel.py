"""OpenSpiel: a single battle as a Python game with explicit chance nodes.

Needs ``pip install "wfb-gym[openspiel]"``. The game is ``wfb_gym_phase`` (`wfb_gym._registration`).
This module contains no game rules: positions, chances and points come from the engine. Without
hidden items, the game has perfect information. With hidden items, it has imperfect information:
chance deals each army its items, the enemy does not see them, and everything else is public.
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
from wfb_gym._registration import DEFAULT_SCENARIO, openspiel_type, register_with_openspiel
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

POINTS_PER_UTILITY = 100.0  # number of points that give a utility of 1
_PREFIX = "given-"
_MAX_CACHED = 200_000  # maximum number of positions in a game's cache, which is cleared when full
_DECISIONS_PER_SPELL = 64
"""Upper bound on the number of decisions per attempt to cast a spell, or per spell in play."""

_unnamed: dict[str, Scenario] = {}
"""`Scenario` objects passed to `load_battle`, keyed by the value of the game parameter."""


class Position:
    """An immutable node of the game, shared by all histories that lead to it.

    Attributes:
        player: 0, 1, or OpenSpiel's chance or terminal player.
        steps: OpenSpiel's actions in ascending order. They are indices into the mover's action
            space or, at a chance node, the numbers of the outcomes from 0.
        codes: the engine's actions or outcomes, parallel to `steps`.
        chances: the probabilities of the outcomes, parallel to `steps`.
        text: a string that is unique among the scenario's positions.
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
        """Return the position after a step, and the points that the first army won in it."""
        if step not in self._next:
            battle = self.battle()
            code = self.codes[self.steps.index(step)]
            gained = battle.resolve(code) if self.chances else battle.act(code)
            self._next[step] = self.store.position(battle), gained
        return self._next[step]

    def battle(self) -> Battle:
        """Return a new battle starting from this position, with 0 points."""
        return self.store.battle(self.key)

    def __deepcopy__(self, memo: object) -> "Position":
        return self


class _PositionStore:
    """A cache of a scenario's positions, and each army's view.

    Attributes:
        deals: for each deal of hidden items, in order, the army and its sets by outcome.
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
            # OpenSpiel needs unique texts, so add the action's number to repeated ones.
            self.meanings.append(
                [f"{text} ({k})" if texts.count(text) > 1 else text for k, text in enumerate(texts)]
            )

    def position(self, battle: Battle) -> Position:
        """Return a battle's cached position."""
        key = battle.key()
        if key not in self._known:
            if len(self._known) >= _MAX_CACHED:
                self._known.clear()
                self.first = Position(self, self.battle(self.first.key))
            self._known[key] = Position(self, battle)
        return self._known[key]

    def battle(self, key: bytes) -> Battle:
        """Return a new battle at the position with this key, with 0 points."""
        twin = self._blank.copy()
        twin.state.setfield(np.frombuffer(key, STATE)[0], STATE)
        twin.points = 0.0
        return twin

    def text_of(self, state: State) -> str:
        """Return a unique text: the node, and the words that differ from the first position."""
        words = words_of(state)
        changed = np.flatnonzero(words != self._first_words)
        return " ".join([Node(int(state.node)).name, *(f"{k}:{int(words[k]):x}" for k in changed)])

    def redact(self, position: Position, known: Collection[int]) -> Records[State]:
        """Return a position (1,) that does not depend on the deals of armies not in `known`."""
        states = as_records(State, np.frombuffer(bytearray(position.key), STATE))
        for army in range(ARMIES):
            if army not in known:
                hide_enemy_items(self.packed, np.zeros(1, np.int64), states, 1 - army)
        return states

    def observation(
        self, position: Position, player: int, known: Collection[int] = range(ARMIES)
    ) -> NDArray[np.float32]:
        """Return an army's observation, float32 (size,)."""
        states = self.redact(position, known)
        observations, _ = self.views[player].show(np.zeros(1, np.int64), states)
        return observations.reshape(-1)

    @property
    def max_points(self) -> float:
        """A loose upper bound on the absolute result of a battle, in points."""
        packed = self.packed[0]
        spells, aims, wizards, units = (
            [army[kind][: army[f"n_{kind}"]] for army in packed.armies]
            for kind in ("spells", "aims", "wizards", "units")
        )
        contacts = packed.contacts[: packed.n_contacts]
        # Twice, because a miscast may give the other army a free spell.
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
    """Play the deals of hidden items; return the army and the sets of each deal."""
    found = []
    while battle.node == Node.DEAL:
        found.append((battle.mover, [code for code, _ in battle.chance_outcomes()]))
        battle.resolve(found[-1][1][0])
    return found


_TYPE = openspiel_type(pyspiel)


class PhaseGame(pyspiel.Game):  # type: ignore[misc]
    """A scenario as a game: player 0 is the first army, and returns are points / 100.

    Chance nodes have the engine's outcomes, which merge rolls with equal successors. Without hidden
    items, information states are positions, because values do not depend on the history. Therefore
    OpenSpiel policies and `wfb_gym.solver` policies correspond one to one.

    With hidden items, the game type has imperfect information. An information state consists of
    the player's own deal and the public history, because past choices are evidence of the enemy's
    items.

    Args:
        params: ``scenario``: a bundled name, or the path to a scenario file.

    Raises:
        ScenarioError: if the scenario does not exist or is invalid.
    """

    def __init__(self, params: dict[str, Any] | None = None) -> None:
        params = params or {}
        name = str(params.get("scenario", DEFAULT_SCENARIO))
        self.scenario = _unnamed[name] if name in _unnamed else load_scenario(name)
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
            max_game_length=attempts * _DECISIONS_PER_SPELL,  # an upper bound
        )
        secrets = self.scenario.has_hidden_items
        super().__init__(openspiel_type(pyspiel, True) if secrets else _TYPE, info, params)

    def new_initial_state(self) -> "PhaseState":
        """Return the battle's first state."""
        return PhaseState(self)

    def make_py_observer(
        self, iig_obs_type: Any = None, params: dict[str, Any] | None = None
    ) -> "PhaseObserver":
        """Return an observer; without hidden items, `iig_obs_type` makes no difference."""
        if params:
            raise ValueError(f"observer: expected no parameters, found {params}")
        kind = iig_obs_type if self.scenario.has_hidden_items else None
        return PhaseObserver(self, kind or pyspiel.IIGObservationType(perfect_recall=False))


class PhaseState(pyspiel.State):  # type: ignore[misc]
    """A state of the game, including the history of the battle.

    Attributes:
        position: the current position.
        points: points won by the first army so far.
    """

    def __init__(self, game: PhaseGame) -> None:
        super().__init__(game)
        self.position = game.store.first
        self.points = game.store.opening_points

    def battle(self) -> Battle:
        """Return a new battle at the current position, with the points won so far."""
        battle = self.position.battle()
        battle.points = self.points
        return battle

    def current_player(self) -> int:
        """Return the player to act: 0, 1, OpenSpiel's chance player or its terminal player."""
        return self.position.player

    def dealt(self, army: int) -> int | None:
        """Return the number, from 0, of the set dealt to an army, or None before the deal."""
        history: list[int] = self.history()
        for (owner, sets), outcome in zip(self.position.store.deals, history, strict=False):
            if owner == army:
                return sets[outcome]
        return None

    def public_history(self) -> list[int]:
        """Return the history without the deals: all actions and dice outcomes so far."""
        history: list[int] = self.history()[len(self.position.store.deals) :]
        return history

    def _legal_actions(self, player: int) -> list[int]:
        return self.position.steps

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Return the outcomes, numbered from 0, with their exact probabilities."""
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
        """Return whether the battle is over."""
        return self.position.node == Node.END

    def returns(self) -> list[float]:
        """Return each player's utility; zeros before the end."""
        if not self.is_terminal():
            return [0.0, 0.0]
        utility = self.points / POINTS_PER_UTILITY
        return [utility, -utility]

    def __str__(self) -> str:
        return f"{self.position.text} after {self.history_str() or 'nothing'}"


class PhaseObserver:
    """An observer for a game.

    The enemy's hidden items are visible only with `PrivateInfoType.ALL_PLAYERS`. With `NONE`, the
    observer returns only public information.

    Args:
        game: the game.
        kind: OpenSpiel's `IIGObservationType`.

    Attributes:
        tensor: all parts in one array, float32 (size,), overwritten by `set_from`.
        dict: the parts by name. ``observation`` is the observation of the Gymnasium environments,
            padded with zeros to the longer layout of the two seats. ``dealt``, only with hidden
            items, has shape (2, sets), with 1 at the set that an army is known to hold.
            ``history``, only with perfect recall, has a positive number for each action and
            outcome since the deals, padded with zeros. ``history`` and ``dealt`` together identify
            the information state.
    """

    def __init__(self, game: PhaseGame, kind: Any) -> None:
        self._store = store = game.store
        private, self._is_public = kind.private_info, bool(kind.public_info)
        self._recalls = self._is_public and bool(kind.perfect_recall)
        self._is_private = private != pyspiel.PrivateInfoType.NONE
        is_secret = game.scenario.has_hidden_items
        self._knows_all = private == pyspiel.PrivateInfoType.ALL_PLAYERS or not is_secret
        self._moves = max(game.num_distinct_actions(), game.max_chance_outcomes())
        shapes: dict[str, tuple[int, ...]] = {}
        if self._is_public:
            shapes["observation"] = (max(view.layout.size for view in store.views),)
        if self._is_private and is_secret:
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
        """Return the armies whose deals a player can see."""
        if self._knows_all:
            return range(ARMIES)
        return [player] if self._is_private else []

    def _deals(self, state: PhaseState, player: int) -> list[tuple[int, int | None]]:
        """Return the deals that a player can see, as pairs of an army and its set."""
        known = self._known(player) if "dealt" in self.dict else []
        return [(army, state.dealt(army)) for army in known]

    def set_from(self, state: PhaseState, player: int) -> None:
        """Write a player's observation of a state to `tensor`."""
        self.tensor.fill(0.0)
        if "observation" in self.dict:
            seat = player if self._is_private else 0
            observation = self._store.observation(state.position, seat, self._known(player))
            self.dict["observation"][: len(observation)] = observation
        for army, dealt in self._deals(state, player):
            if dealt is not None:
                self.dict["dealt"][army, dealt] = 1.0
        if "history" in self.dict:
            moves = np.array(state.public_history(), np.float32)
            self.dict["history"][: len(moves)] = (moves + 1.0) / self._moves

    def string_from(self, state: PhaseState, player: int) -> str:
        """Return the visible deals, followed by all moves (perfect recall) or the position."""
        words = [f"player {player}"] if self._is_private else []
        for _, dealt in self._deals(state, player):
            words.append("dealt -" if dealt is None else f"dealt {dealt}")
        if self._recalls:
            words += ["moves", *map(str, state.public_history())]
        elif self._is_public and self._knows_all:
            words.append(state.position.text)
        elif self._is_public:
            known = self._known(player)
            words.append(self._store.text_of(self._store.redact(state.position, known)[0]))
        return " ".join(words)


class PolicyPlayer:
    """An OpenSpiel policy wrapped as a player for environments and `wfb_gym.solver`.

    Args:
        game: the policy's game. The player can play only this scenario.
        policy: an object with `action_probabilities(state, player)`, such as the policies in
            `open_spiel.python.policy`. It must depend only on the position, not on the history.
        seed: seed for drawing actions. If None, the draws differ each time.

    Raises:
        ValueError: if the game has hidden items, because policies then depend on the history.
    """

    sees_positions = True

    def __init__(self, game: PhaseGame, policy: Any, seed: int | None = None) -> None:
        if game.scenario.has_hidden_items:
            raise ValueError(
                f"game: expected a scenario without hidden items, found {game.scenario.name}; "
                "its policies depend on histories, which players do not get"
            )
        self._game, self._policy = game, policy
        self._rng = np.random.default_rng(seed)

    def act(
        self, observations: Observations, action_masks: Masks, positions: Positions | None = None
    ) -> Actions:
        """Draw one action per row."""
        chances = self.action_probabilities(observations, action_masks, positions)
        return draw_actions(chances, self._rng)

    def action_probabilities(
        self, observations: Observations, action_masks: Masks, positions: Positions | None = None
    ) -> Probabilities:
        """Return the policy's probabilities, float64 (k, actions).

        Raises:
            ValueError: if the battles belong to a different scenario than the policy's.
        """
        store = self._game.store
        if positions is None or positions.packed_scenarios.tobytes() != store.packed.tobytes():
            raise ValueError("positions: expected battles of the policy's scenario, found others")
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
    """Load a scenario as a game.

    Args:
        scenario: a bundled name, the path to a scenario file, or a `Scenario`. Games and states for
            a `Scenario` can be serialized, but only this process can load them.

    Raises:
        ScenarioError: if the scenario does not exist or is invalid.
    """
    name = str(scenario)
    if isinstance(scenario, Scenario):
        name = _PREFIX + sha256(pack(scenario).tobytes()).hexdigest()[:16]
        _unnamed[name] = scenario
    game: PhaseGame = pyspiel.load_game(_TYPE.short_name, {"scenario": name})
    return game
