"""verifiers: battles for two agents, or for one against a registered player.

Needs ``pip install "wfb-gym[verifiers]"``. verifiers finds an environment by the name of a module
at the top level, so write one with a line of code, such as ``magic_phase.py``::

    from wfb_gym.interop.verifiers import TextBattleEnv, TextBattleTaskset, __all__

Then ``vf-eval magic-phase -n 10`` plays ten battles. Positions, replies and points come from
`wfb_gym.interop.text`.
"""

import asyncio
from collections.abc import Iterator
from contextlib import AsyncExitStack
from itertools import count
from typing import Any, Literal

try:
    import verifiers.v1 as vf
except ImportError as error:
    raise ImportError(
        'wfb_gym.interop.verifiers needs verifiers: pip install "wfb-gym[verifiers]"'
    ) from error

from pydantic import Field

from wfb_gym.interop.text import TextGame
from wfb_gym.interop.text_episodes import TextEpisodes
from wfb_gym.seats import SEATS

__all__ = ["TextBattleEnv", "TextBattleTaskset"]

_RESULTS = ("decisions", "parse_failures", "illegal_actions", "forfeits", "regret", "share")


def _seat() -> Any:
    """Return the configuration of an agent: a chat without tools, in a local process."""
    return vf.AgentConfig(harness={"id": "null"}, runtime={"type": "subprocess"})


class BattleData(vf.TaskData):  # type: ignore[misc]
    """A battle: a scenario and a seed (`TextEpisodes.start`)."""

    scenario: str
    seed: int


class BattleTask(vf.Task[BattleData]):  # type: ignore[misc]
    """A battle as a task."""


class BattleTasksetConfig(vf.TasksetConfig):  # type: ignore[misc]
    """Options of the tasks."""

    scenario: str = "generated-duel-500"
    """A bundled name, a path, or a kind of generated scenario, such as "generated-phase:test"."""
    first_seed: int = Field(0, ge=0)
    """Seed of the first task; the following tasks have the following seeds."""


class TextBattleTaskset(vf.Taskset[BattleTask, BattleTasksetConfig]):  # type: ignore[misc]
    """One battle for each seed, without end."""

    INFINITE = True

    def load(self) -> Iterator[BattleTask]:
        """Yield the tasks in the order of their seeds."""
        for index in count():
            seed, scenario = self.config.first_seed + index, self.config.scenario
            name = f"{scenario}#{seed}"
            data = BattleData(idx=index, name=name, prompt=None, scenario=scenario, seed=seed)
            yield BattleTask(data, self.config.task)


class TextBattleEnvConfig(vf.EnvConfig):  # type: ignore[misc]
    """The agents and the options of a battle."""

    caster: vf.AgentConfig = _seat()
    dispeller: vf.AgentConfig = _seat()
    seat: Literal["both", "caster", "dispeller"] = "both"
    """The seats that agents play."""
    opponent: str = "veteran"
    """The registered player of the other seat, if agents play one seat."""
    invalid_retries: int = Field(1, ge=0)
    """Number of times that a reply may be repeated in a decision, before the lowest legal action is
    played."""
    odds: bool = False
    """Whether decisions contain the chances of casting and dispelling."""
    max_bytes: int = Field(0, ge=0)
    """Memory limit for solving a scenario, in bytes, for regrets. With 0, regrets are unknown."""
    points_per_reward: float = Field(100.0, gt=0.0)
    """Number of points that give a reward of 1."""


class TextBattleEnv(vf.Env[TextBattleEnvConfig]):  # type: ignore[misc]
    """A battle between two agents, or between an agent and a registered player.

    Each seat is one conversation: the rules as the system prompt, then one turn for each decision.
    A trace's reward ``points`` is the points that its seat won, divided by `points_per_reward`;
    the rewards of two seats sum to 0. Its metrics are the seat's results
    (`wfb_gym.interop.text.SeatResult`), and ``truncated`` is 1 if a limit ended its conversation.
    In that case, the lowest legal action is played in its remaining decisions.
    """

    async def run(self, task: BattleTask, agents: vf.Agents) -> None:
        """Play a battle."""
        episodes = self._episodes(task.data.scenario)
        game, _ = await asyncio.to_thread(episodes.start, task.data.seed)
        truncated = set[int]()
        async with AsyncExitStack() as stack:
            talks = {
                seat: await stack.enter_async_context(
                    getattr(agents, SEATS[seat]).interaction(_conversation(task, game.rules(seat)))
                )
                for seat in game.seats
            }
            prompt = game.view().text()
            while (seat := game.to_move) is not None:
                reply = f"[{game.legal_actions[0].index}]"
                if seat not in truncated:
                    segment = await talks[seat].turn(prompt)
                    if segment.terminated:
                        truncated.add(seat)
                        continue
                    reply = segment.last_reply
                text, _, _, info = await asyncio.to_thread(game.step, reply)
                prompt = text if info["action"] is None else game.view().text()
        for seat, talk in talks.items():
            reward = episodes.reward(game.points(seat))
            self._record(talk.trace, game, seat, reward, seat in truncated)

    def _episodes(self, scenario: str) -> TextEpisodes:
        config = self.config
        seat, opponent = (None, None) if config.seat == "both" else (config.seat, config.opponent)
        return TextEpisodes(
            scenario, seat, opponent,
            retries=config.invalid_retries, odds=config.odds, max_bytes=config.max_bytes,
            points_per_reward=config.points_per_reward,
        )  # fmt: skip

    def _record(
        self, trace: vf.Trace, game: TextGame, seat: int, reward: float, truncated: bool
    ) -> None:
        """Record a seat's reward and metrics on its trace."""
        found = game.result(seat).to_dict()
        trace.record_reward("points", reward)
        trace.record_metric("truncated", truncated)
        for name in _RESULTS:
            if found[name] is not None:
                trace.record_metric(name, found[name])
        trace.info["wfb_gym"] = {
            "scenario": game.scenario.name,
            "seat": SEATS[seat],
            "seed": game.seed,
            **found,
        }


def _conversation(task: BattleTask, rules: str) -> vf.Task:
    """Return a seat's task, which the first decision opens."""
    return vf.Task(vf.TaskData(idx=task.data.idx, prompt=None, system_prompt=rules))
