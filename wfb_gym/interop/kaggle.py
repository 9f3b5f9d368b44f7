"""Kaggle's Game Arena: a harness for language models on the OpenSpiel game.

Needs ``pip install "wfb-gym[kaggle]"``. Importing this module registers the game
``wfb_gym_phase_json`` with OpenSpiel, which wraps `wfb_gym.interop.openspiel.PhaseGame` and has
observations in JSON, and its environment `ENV_NAME` with `kaggle_environments`. The three functions
of a harness follow the protocol of ``kaggle_environments.core_harness``, for `HARNESS` in
``create_agent_fn`` or as a module. Positions and replies come from `wfb_gym.interop.text`.
"""

import json
from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

try:
    import kaggle_environments
    import pyspiel
    from kaggle_environments.core_harness import ParseResult
    from kaggle_environments.envs.open_spiel_env import open_spiel_env, proxy
except ImportError as error:
    raise ImportError(
        'wfb_gym.interop.kaggle needs kaggle-environments: pip install "wfb-gym[kaggle]"'
    ) from error

from wfb_gym.interop.openspiel import PhaseGame
from wfb_gym.interop.text import IllegalAction, LegalAction, ReplyError, parse_reply
from wfb_gym.interop.text.seat_view import SeatView, rules_summary, view_seat
from wfb_gym.transcripts.narrated_battle import NarratedBattle
from wfb_gym.view.events import Event

GAME_NAME = "wfb_gym_phase_json"
ENV_NAME = f"open_spiel_{GAME_NAME}"


class PhaseJsonState(proxy.State):  # type: ignore[misc]
    """A state of the game whose observations are JSON documents."""

    def seat_view(self, player: int) -> SeatView:
        """Return a player's view of the battle, including the history that it saw."""
        game: PhaseGame = self.__wrapped__.get_game()
        store = game.store
        narrated, position = NarratedBattle(game.scenario, store.packed), store.first
        rules = rules_summary(narrated.names, narrated.view(player), player)
        events: list[Event] = []
        seen = 0
        for step in self.__wrapped__.history():
            code = position.codes[position.steps.index(step)]
            if position.player == player:
                seen = len(events)
            events.append(narrated.resolve(code) if position.chances else narrated.act(code))
            position, _ = position.next_position(step)
        codec = store.views[player].codec
        return view_seat(narrated, player, codec, events, rules=rules, new=seen)

    def observation_string(self, player: int) -> str:
        """Return a player's view as JSON, with the same as text under ``text``."""
        view = self.seat_view(player)
        return json.dumps({**view.to_dict(), "text": view.text(rules=True, history=True)})

    def hides_state_from_agents(self) -> bool:
        """Return whether agents may not get the state itself, because it has hidden items."""
        return bool(self.__wrapped__.get_game().scenario.has_hidden_items)

    def __str__(self) -> str:
        return str(self.__wrapped__)


class PhaseJsonGame(proxy.Game):  # type: ignore[misc]
    """`PhaseGame` with observations in JSON.

    Args:
        params: ``scenario``: a bundled name, or the path to a scenario file.

    Raises:
        ScenarioError: if the scenario does not exist or is invalid.
    """

    def __init__(self, params: dict[str, Any] | None = None) -> None:
        super().__init__(
            PhaseGame(params), short_name=GAME_NAME, long_name="Magic phase with JSON observations"
        )

    def new_initial_state(self) -> PhaseJsonState:
        """Return the battle's first state."""
        return PhaseJsonState(self.__wrapped__.new_initial_state(), self)


def get_legal_moves(observation: Mapping[str, Any]) -> dict[int, str]:
    """Return the labels of the legal actions by their indices, or {} if it is not the turn."""
    return {action.index: action.label for action in _legal_actions(observation)}


def generate_prompt(
    observation: Mapping[str, Any],
    move_history: Sequence[str],
    previous_response: str | None = None,
    previous_action: str | None = None,
) -> str:
    """Return the prompt: the rules, all events, the position and the legal actions.

    Args:
        observation: Kaggle's observation.
        move_history: ignored; the observation has both players' moves.
        previous_response: a reply that was not accepted, or None. The reason is added.
        previous_action: ignored.
    """
    prompt = str(_data(observation)["text"])
    if previous_response is None:
        return prompt
    try:
        parse_reply(previous_response, _legal_actions(observation))
    except ReplyError as error:
        prompt += f"\n\nYour last reply was not accepted: {error}. Choose a legal action."
    return prompt


def parse_response(
    response: str, legal_action_strings: Sequence[str] | None, *, observation: Mapping[str, Any]
) -> ParseResult:
    """Return the legal action that a reply names.

    Args:
        response: the reply.
        legal_action_strings: ignored; the observation has the legal actions.
        observation: Kaggle's observation.
    """
    moves = get_legal_moves(observation)
    try:
        index = parse_reply(response, _legal_actions(observation))
    except IllegalAction as error:
        return ParseResult(raw_action=str(error))
    except ReplyError:
        return ParseResult()
    return ParseResult(legal_action=moves[index], raw_action=moves[index])


HARNESS = SimpleNamespace(
    get_legal_moves=get_legal_moves, make_prompt=generate_prompt, parse_response=parse_response
)
"""The harness, for ``kaggle_environments.core_harness.create_agent_fn``."""


def make(scenario: str = "archmage-duel", **configuration: Any) -> Any:
    """Return an environment of Kaggle's for a scenario.

    Args:
        scenario: a bundled name, or the path to a scenario file.
        configuration: options of the environment, such as ``seed``.

    Raises:
        ScenarioError: if the scenario does not exist or is invalid.
    """
    steps = pyspiel.load_game(GAME_NAME, {"scenario": scenario}).max_game_length()
    parameters = {"openSpielGameParameters": {"scenario": scenario}, "episodeSteps": steps}
    return kaggle_environments.make(ENV_NAME, configuration={**parameters, **configuration})


def _data(observation: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON document of an observation; {} before the first step."""
    found: dict[str, Any] = json.loads(observation.get("observationString") or "{}")
    return found


def _legal_actions(observation: Mapping[str, Any]) -> list[LegalAction]:
    actions = _data(observation).get("actions", [])
    return [LegalAction(**each) for each in actions]


if GAME_NAME not in pyspiel.registered_names():
    pyspiel.register_game(PhaseJsonGame().get_type(), PhaseJsonGame)
    # The function that the library makes the environments of its own games with.
    environment = open_spiel_env._build_env(GAME_NAME)  # noqa: SLF001
    kaggle_environments.register(ENV_NAME, environment)
