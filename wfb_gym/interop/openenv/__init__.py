"""OpenEnv: a battle against a registered player, as an environment with an HTTP server.

Needs ``pip install "wfb-gym[openenv]"``. ``python -m wfb_gym.interop.openenv`` starts the server;
``openenv.yaml`` in this folder describes it. Positions, replies and points come from
`wfb_gym.interop.text`.
"""

from typing import Any
from uuid import uuid4

try:
    from openenv.core.env_server.http_server import create_app
    from openenv.core.env_server.interfaces import Environment
    from openenv.core.env_server.types import Action, EnvironmentMetadata, Observation, State
except ImportError as error:
    raise ImportError(
        'wfb_gym.interop.openenv needs openenv: pip install "wfb-gym[openenv]"'
    ) from error

from pydantic import Field

from wfb_gym import __version__
from wfb_gym.interop.text import TextGame
from wfb_gym.interop.text_episodes import TextEpisodes
from wfb_gym.seats import SEATS

NAME = "wfb_gym"


class BattleAction(Action):  # type: ignore[misc]
    """A reply of a language model."""

    reply: str = Field(description="Text with exactly one action in square brackets, such as [3]")


class BattleObservation(Observation):  # type: ignore[misc]
    """A decision, or the last position of a battle."""

    text: str = Field(default="", description="The decision as text, with the rules at first")
    view: dict[str, Any] = Field(default_factory=dict, description="The same as data")
    action: int | None = Field(default=None, description="Index of the action that was played")
    error: str = Field(default="", description='"", "parse failure" or "illegal action"')
    reason: str = Field(default="", description="The reason of the error")
    regret: float | None = Field(default=None, description="Exact regret of the action, in points")


class BattleState(State):  # type: ignore[misc]
    """The battle so far."""

    scenario: str = Field(default="", description="Name of the scenario")
    seat: str = Field(default="", description='"caster" or "dispeller"')
    seed: int | None = Field(
        default=None, description="Seed of the dice and the opponent, once the battle is over"
    )
    points: float = Field(default=0.0, description="Points that the seat has won")
    decisions: int = Field(default=0, description="Number of decisions played")
    regret: float | None = Field(default=None, description="Total regret of the seat, in points")
    share: float | None = Field(default=None, description="Share of the points at stake kept")
    parse_failures: int = Field(default=0, description="Number of replies without an action")
    illegal_actions: int = Field(default=0, description="Number of illegal actions")
    forfeits: int = Field(default=0, description="Number of decisions played after an error")


class BattleEnvironment(Environment):  # type: ignore[misc]
    """A battle in which a language model plays one seat.

    The reward of a step is the points that the seat won in it, divided by `points_per_reward`. The
    first reward includes points won before the first decision. A reply that is not accepted
    returns the reason and the same decision; after `retries` of them, the lowest legal action is
    played.

    Args:
        settings: arguments of `wfb_gym.interop.text_episodes.TextEpisodes`. The opponent defaults
            to "veteran".
    """

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, **settings: Any) -> None:
        super().__init__()
        self._episodes = TextEpisodes(**{"seat": "caster", "opponent": "veteran", **settings})
        if self._episodes.seat is None or self._episodes.opponent is None:
            raise ValueError("BattleEnvironment: expected a seat and an opponent, found None")
        self._game: TextGame | None = None
        self._episode_id, self._steps = "", 0

    def reset(
        self, seed: int | None = None, episode_id: str | None = None, **kwargs: Any
    ) -> BattleObservation:
        """Start a battle.

        Args:
            seed: seed of the dice, of the opponent and of a generated scenario, 0 or more. If None,
                the seed is random.
            episode_id: name of the episode. If None, a new name.
            kwargs: ignored.

        Raises:
            ValueError: if the seed is negative.
            ScenarioError: if the scenario does not exist or is invalid.
        """
        self._game, text = self._episodes.start(seed)
        self._episode_id, self._steps = episode_id or str(uuid4()), 0
        reward = None
        if self._game.done:  # before the first decision
            reward = self._episodes.reward(self._game.points(self._game.seats[0]))
        return BattleObservation(text=text, view=self._view(), done=self._game.done, reward=reward)

    def step(
        self, action: BattleAction, timeout_s: float | None = None, **kwargs: Any
    ) -> BattleObservation:
        """Play the action that a reply names.

        Args:
            action: the reply.
            timeout_s: ignored.
            kwargs: ignored.

        Raises:
            ValueError: if the battle is over or was not reset. OpenEnv's server keeps a battle
                between requests only in a WebSocket session.
        """
        if self._game is None:
            raise ValueError("step: expected a battle, found none; call reset in this session")
        text, points, done, info = self._game.step(action.reply)
        self._steps += 1
        return BattleObservation(
            text=text,
            view=self._view(),
            done=done,
            reward=self._episodes.reward(points),
            action=info["action"],
            error=info["error"],
            reason=info["reason"],
            regret=info["regret"],
        )

    @property
    def state(self) -> BattleState:
        """The battle so far; empty before `reset`."""
        game = self._game
        if game is None:
            return BattleState()
        found = game.result().to_dict()
        return BattleState(
            episode_id=self._episode_id,
            step_count=self._steps,
            scenario=game.scenario.name,
            seat=SEATS[game.seats[0]],
            seed=game.seed if game.done else None,  # before that, it predicts the dice
            **{name: value for name, value in found.items() if name in BattleState.model_fields},
        )

    def get_metadata(self) -> EnvironmentMetadata:
        """Return the environment's name, description and version."""
        return EnvironmentMetadata(
            name=NAME,
            description="The magic phase of Warhammer Fantasy Battle against a registered player",
            version=__version__,
        )

    def web_actions(self, observation: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
        """Return the legal actions as buttons of OpenEnv's web interface."""
        actions = observation.get("view", {}).get("actions", [])
        return [(each["label"], {"reply": f"[{each['index']}]"}) for each in actions]

    def _view(self) -> dict[str, Any]:
        assert self._game is not None
        return self._game.view().to_dict()


def make_app(max_sessions: int = 64, **settings: Any) -> Any:
    """Return the FastAPI application, with one environment per WebSocket session.

    Args:
        max_sessions: maximum number of sessions at the same time.
        settings: arguments of `BattleEnvironment`.

    Raises:
        ValueError: if a setting is invalid.
        ScenarioError: if the scenario does not exist or is invalid.
    """
    BattleEnvironment(**settings).reset(seed=0)  # raises now instead of in every session
    return create_app(
        lambda: BattleEnvironment(**settings),
        BattleAction,
        BattleObservation,
        env_name=NAME,
        max_concurrent_envs=max_sessions,
        state_cls=BattleState,
    )
