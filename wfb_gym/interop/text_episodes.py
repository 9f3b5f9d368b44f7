"""Text games for adapters: the same settings for every episode, and one seed for each."""

import secrets
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property
from os import PathLike

from wfb_gym.envs.driver import validated_points_per_reward
from wfb_gym.envs.scenario_set import names_generated
from wfb_gym.interop.text import RegretGrader, TextGame
from wfb_gym.players.interface import Opponent
from wfb_gym.scenario import Scenario, load_scenario

DEFAULT_SCENARIO = "archmage-duel"


@dataclass(frozen=True)
class TextEpisodes:
    """Starts text games.

    Attributes:
        scenario: a bundled name, a path, a `Scenario`, or the name of a kind of generated scenario
            for a new scenario in each episode, such as "generated-phase-500" or
            "generated-duel:test".
        seat: the seat that replies: 0 or "caster", 1 or "dispeller". None for both seats.
        opponent: the player of the other seat, or None for both seats. If only one of `seat` and
            `opponent` is given, the other has the default of `TextGame`.
        retries: number of times that a reply may be repeated in a decision. After that, the lowest
            legal action is played.
        odds: whether observations contain the chances of casting and dispelling.
        max_bytes: memory limit for solving a scenario, in bytes, for regrets. With 0, regrets are
            None.
        points_per_reward: number of points that give a reward of 1.

    Raises:
        ValueError: if `points_per_reward` is not a positive number.
    """

    scenario: str | PathLike[str] | Scenario = DEFAULT_SCENARIO
    seat: int | str | None = None
    opponent: Opponent | None = None
    _: KW_ONLY
    retries: int = 1
    odds: bool = False
    max_bytes: int = 0
    points_per_reward: float = 100.0

    def __post_init__(self) -> None:
        """Raise a ValueError if `points_per_reward` is invalid."""
        validated_points_per_reward(self.points_per_reward)

    def start(self, seed: int | None = None) -> tuple[TextGame, str]:
        """Return a new game at its first decision, and its first observation.

        Args:
            seed: seed of the dice and of the opponent, and index of a generated scenario within its
                split (larger values wrap around), 0 or more. If None, the seed is random.

        Raises:
            ValueError: if the seed is negative, or the seat or the opponent is unknown.
            ScenarioError: if the scenario does not exist or is invalid.
        """
        if seed is not None and seed < 0:
            raise ValueError(f"seed: expected 0 or more, found {seed}")
        seed = secrets.randbelow(2**31) if seed is None else seed
        game = TextGame(
            self.scenario_of(seed), self.seat, self.opponent,
            retries=self.retries, odds=self.odds, max_bytes=self.max_bytes,
            grader=None if self._is_generated else self._grader,  # which solves a scenario once
        )  # fmt: skip
        return game, game.reset(seed)

    def scenario_of(self, seed: int) -> Scenario:
        """Return the scenario of an episode."""
        if not self._is_generated:
            return self._only_scenario
        from wfb_gym.generating import TEST_SEEDS, TRAIN_SEEDS, Generated, generate

        kind = Generated.parse(str(self.scenario))
        index = seed % len(TEST_SEEDS if kind.split == "test" else TRAIN_SEEDS)
        (own,) = replace(kind, count=1, first=index).seeds
        return generate(own, kind.kinds[index % len(kind.kinds)])

    def reward(self, points: float) -> float:
        """Return the reward for points."""
        return points / self.points_per_reward

    @property
    def _is_generated(self) -> bool:
        return isinstance(self.scenario, str) and names_generated(self.scenario)

    @cached_property
    def _only_scenario(self) -> Scenario:
        return load_scenario(self.scenario)

    @cached_property
    def _grader(self) -> RegretGrader:
        return RegretGrader(self._only_scenario, self.max_bytes)
