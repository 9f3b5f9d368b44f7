"""RLlib env runner on a native batch, which plays many battles in parallel, in both seats.

RLlib's own runner spends milliseconds of Python time on every decision in every battle. This runner
collects the decisions of all battles in arrays, step by step, and cuts them into episodes at the
end: one `SingleAgentEpisode` per seat and battle, which RLlib's learners accept unchanged.
"""

import time
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple
from uuid import uuid4

import numpy as np
import torch
from numpy.typing import NDArray
from ray.rllib.core.columns import Columns
from ray.rllib.env.multi_agent_env_runner import MultiAgentEnvRunner
from ray.rllib.env.single_agent_episode import SingleAgentEpisode
from ray.rllib.env.utils.infinite_lookback_buffer import InfiniteLookbackBuffer
from ray.rllib.utils import metrics as names
from ray.rllib.utils.torch_utils import FLOAT_MIN

from agents.rllib.environment import AGENTS, MASK, SEEN, TurnBasedEnv, first_seed
from wfb_gym.envs.self_play import Decisions, SelfPlayBatch
from wfb_gym.seats import SEATS


class Answers(NamedTuple):
    """The actions chosen at some decisions."""

    actions: NDArray[np.int64]  # (k,)
    log_probs: NDArray[np.float32]  # (k,): for the actions
    logits: NDArray[np.float32]  # (k, actions)


class SampledDecisions(NamedTuple):
    """One seat's decisions and chosen actions, one per row."""

    battles: NDArray[np.int64]  # (k,): battle numbers, counted within each call to `sample`
    members: NDArray[np.int64]  # (k,): the battles' indices in the batch
    before: NDArray[np.float64]  # (k,): points that the first army had won at that index
    observations: NDArray[np.float32]  # (k, size)
    masks: NDArray[np.bool_]  # (k, actions)
    actions: NDArray[np.int64]  # this and the next two are as in `Answers`
    log_probs: NDArray[np.float32]
    logits: NDArray[np.float32]

    def rows(self, chosen: NDArray[np.int64]) -> "SampledDecisions":
        """Return some of the decisions, by index."""
        columns: Iterator[Any] = (column[chosen] for column in self)
        return SampledDecisions(*columns)


class FinishedBattle(NamedTuple):
    """A battle's data for RLlib's metrics."""

    points: float  # of the first army
    decisions: tuple[int, ...]  # by seat
    seconds: float


class BatchEnvRunner(MultiAgentEnvRunner):
    """Samples self-play from a `SelfPlayBatch`. Each seat's module is named after the seat.

    The environment is `TurnBasedEnv`, and a single battle of it defines the spaces. A battle that
    `sample` leaves unfinished continues in the next call. If a seat is waiting for its opponent at
    the end of a call, the next call returns its last decision. Episodes have no infos. Connectors
    between environment and module, and callbacks for single steps and episodes, are not called.
    """

    battles: SelfPlayBatch
    asked: tuple[Decisions, Decisions]  # each seat's current decisions
    _needs_initial_reset: bool

    def make_env(self) -> None:
        """Make the batch, and a single battle that RLlib checks and reads the spaces from."""
        count = self.config.num_envs_per_env_runner
        self.config.num_envs_per_env_runner = 1  # the configuration is the runner's own
        try:
            super().make_env()
        finally:
            self.config.num_envs_per_env_runner = count
        single: TurnBasedEnv = self.env.envs[0].unwrapped
        self.num_envs = count
        self.battles = SelfPlayBatch(count, single.scenario)
        self._points_per_reward = single.points_per_reward
        self._rng = np.random.default_rng(self._seed)
        self._finished: list[FinishedBattle] = []

    def get_metrics(self) -> Any:
        """Return RLlib's metrics, including the latest finished battles."""
        for each in self._finished[-self.config.metrics_num_episodes_for_smoothing :]:
            reward = each.points / self._points_per_reward
            rewards = (reward, -reward)
            self._log_episode_metrics(
                sum(each.decisions),
                sum(rewards),
                each.seconds,
                dict(zip(AGENTS, rewards, strict=True)),
                dict(zip(SEATS, rewards, strict=True)),
                dict(zip(AGENTS, each.decisions, strict=True)),
            )
        self._finished.clear()
        return self.metrics.reduce()

    def _reset(self) -> None:
        """Begin all battles, the first time with dice from the runner's seed."""
        count, seed = self.num_envs, None
        if self._needs_initial_reset and self._seed is not None:
            seed = first_seed(self._seed, self.worker_index or 0)
        self.asked = self.battles.reset(seed)
        self._needs_initial_reset = False
        self._won = np.zeros(count)  # the first army's points, by index in the batch
        self._battle_points = np.zeros(count)
        self._decisions = np.zeros(len(SEATS), np.int64)  # over all battles, since the last log
        self._battle_decisions = np.zeros((len(SEATS), count), np.int64)
        self._battle_began = np.full(count, time.perf_counter())
        self._pending: list[list[SampledDecisions]] = [[] for _ in SEATS]

    def _sample(
        self,
        *,
        num_timesteps: int | None = None,
        num_episodes: int | None = None,
        explore: bool,
        random_actions: bool = False,
        force_reset: bool = False,
    ) -> list[SingleAgentEpisode]:
        """Sample at least `num_timesteps` decisions of both seats, or `num_episodes` battles."""
        if force_reset or num_episodes is not None or self._needs_initial_reset:
            self._reset()
        choices, self._pending = self._pending, [[] for _ in SEATS]
        count = self.num_envs
        playing = np.arange(count)  # battle number at each index in the batch
        finals = np.full(count, np.nan)  # by number: points won at the battle's index when it ended
        steps = 0
        while (
            steps * count < num_timesteps
            if num_timesteps is not None
            else len(finals) - count < (num_episodes or 0)
        ):
            over = self._play(choices, playing, explore, random_actions)
            finals[playing[over]] = self._won[over]
            playing[over] = len(finals) + np.arange(len(over))
            finals = np.append(finals, np.full(len(over), np.nan))
            steps += 1
        call = uuid4().hex
        episodes = [
            episode
            for seat, parts in enumerate(choices)
            if parts
            for episode in self._cut(seat, parts, finals, call)
        ]
        self._won[:] = 0.0
        self._log_decisions(len(finals) - count)
        if num_episodes is not None:  # leave out unfinished battles, as RLlib's own runner does
            self._needs_initial_reset = True
            return [episode for episode in episodes if episode.is_done]
        return episodes

    def _play(
        self,
        choices: Sequence[list[SampledDecisions]],
        playing: NDArray[np.int64],
        explore: bool,
        random_actions: bool,
    ) -> NDArray[np.int64]:
        """Play one decision in every battle, and return the batch indices of ended battles."""
        actions = []
        for seat, asked in enumerate(self.asked):
            members = asked.members
            answers = self._choose(seat, asked, explore, random_actions)
            battle = (playing[members], members, self._won[members])
            choices[seat].append(
                SampledDecisions(*battle, asked.observations, asked.masks, *answers)
            )
            actions.append(answers.actions)
            self._decisions[seat] += len(members)
            self._battle_decisions[seat, members] += 1
        points = self.battles.opening_points.copy()  # credited to a battle's first decision
        self.asked = self.battles.play(*actions)
        points += self.battles.points
        self._won += points
        self._battle_points += points
        over = np.flatnonzero(self.battles.ended)
        now = time.perf_counter()
        self._finished += [
            FinishedBattle(
                float(self._battle_points[place]),
                tuple(self._battle_decisions[:, place].tolist()),
                now - float(self._battle_began[place]),
            )
            for place in over[-self.config.metrics_num_episodes_for_smoothing :]
        ]
        self._battle_points[over] = 0.0
        self._battle_decisions[:, over] = 0
        self._battle_began[over] = now
        return over

    def _choose(self, seat: int, asked: Decisions, explore: bool, random_actions: bool) -> Answers:
        """Choose actions with a seat's module, or uniformly from the legal actions."""
        if not len(asked.members):
            nothing = np.zeros(asked.masks.shape, np.float32)
            return Answers(np.zeros(0, np.int64), np.zeros(0, np.float32), nothing)
        if random_actions:
            actions = (self._rng.random(asked.masks.shape) * asked.masks).argmax(1)
            log_probs = -np.log(asked.masks.sum(1)).astype(np.float32)
            logits = np.where(asked.masks, np.float32(0.0), np.float32(FLOAT_MIN))
            return Answers(actions, log_probs, logits)
        module = self.module[SEATS[seat]]
        seen = {
            MASK: torch.from_numpy(asked.masks).to(self._device, torch.float32),
            SEEN: torch.from_numpy(asked.observations).to(self._device),
        }
        with torch.no_grad():
            if explore:
                found = module.forward_exploration({Columns.OBS: seen})[Columns.ACTION_DIST_INPUTS]
                chances = module.get_exploration_action_dist_cls().from_logits(found)
            else:
                found = module.forward_inference({Columns.OBS: seen})[Columns.ACTION_DIST_INPUTS]
                chances = module.get_inference_action_dist_cls().from_logits(found)
            drawn = (chances if explore else chances.to_deterministic()).sample()
            log_probs = chances.logp(drawn)
        return Answers(*(each.cpu().numpy() for each in (drawn, log_probs, found)))

    def _cut(
        self, seat: int, parts: Sequence[SampledDecisions], finals: NDArray[np.float64], call: str
    ) -> Iterator[SingleAgentEpisode]:
        """Cut a seat's decisions into one episode per battle.

        A decision's reward is the points won until the seat's next decision or the end of the
        battle. In an unfinished battle, the episode's last observation is the seat's current
        decision. If the seat has none, it is the seat's last decision, which is then pending.
        """
        asked = self.asked[seat]
        all_rows = SampledDecisions(*map(np.concatenate, zip(*parts, strict=True)))
        order = np.argsort(all_rows.battles, kind="stable")
        battles, members, before = (column[order] for column in all_rows[:3])
        last = np.flatnonzero(np.append(battles[1:] != battles[:-1], [True] * bool(len(order))))
        now = np.full(self.num_envs, -1)
        now[asked.members] = np.arange(len(asked.members))
        is_over = ~np.isnan(finals[battles[last]])
        now = np.where(is_over, -1, now[members[last]])  # row of the seat's next decision
        waits = ~is_over & (now < 0)

        after = np.append(before[1:], 0.0)[: len(order)]
        after[last] = np.where(is_over, finals[battles[last]], self._won[members[last]])
        sign = 1.0 if seat == 0 else -1.0
        rewards = (after - before) * (sign / self._points_per_reward)
        pending = all_rows.rows(order[last[waits]])
        owed = pending.before - self._won[pending.members]  # `_won` restarts at 0 in the next call
        self._pending[seat].append(pending._replace(battles=pending.members, before=owed))

        is_kept = np.ones(len(order), np.bool_)
        is_kept[last[waits]] = False
        kept, stops = order[is_kept], np.cumsum(is_kept)[last]
        # each episode ends with one more observation; a finished battle repeats its last one
        shown = np.insert(kept, stops, np.where(now < 0, order[last], len(order) + now))
        masks = np.concatenate([all_rows.masks, asked.masks])[shown].astype(np.float32)
        observations = np.concatenate([all_rows.observations, asked.observations])[shown]
        actions, log_probs, logits = (column[kept] for column in all_rows[5:])
        rewards = rewards[is_kept]
        starts = np.append(0, stops[:-1]) if len(stops) else stops
        spans = zip(battles[last], starts, stops, is_over, strict=True)
        for place, (battle, start, stop, over) in enumerate(spans):
            if start == stop:
                continue
            rows, with_next = slice(start, stop), slice(start + place, stop + place + 1)
            model_outputs = {
                Columns.ACTION_LOGP: InfiniteLookbackBuffer(log_probs[rows]),
                Columns.ACTION_DIST_INPUTS: InfiniteLookbackBuffer(logits[rows]),
            }
            yield SingleAgentEpisode(
                observations=InfiniteLookbackBuffer(
                    {MASK: masks[with_next], SEEN: observations[with_next]}
                ),
                infos=[{}] * (stop - start + 1),
                actions=InfiniteLookbackBuffer(actions[rows]),
                rewards=InfiniteLookbackBuffer(rewards[rows]),
                terminated=bool(over),
                extra_model_outputs=model_outputs,
                len_lookback_buffer=0,
                agent_id=AGENTS[seat],
                module_id=SEATS[seat],
                multi_agent_episode_id=f"{call}-{battle}",
            )

    def _log_decisions(self, battles: int) -> None:
        """Add the decisions and finished battles since the last call to RLlib's metrics."""
        counts, self._decisions[:] = self._decisions.tolist(), 0
        for seat, count in enumerate(counts):
            for name, key in (
                (names.NUM_AGENT_STEPS_SAMPLED, AGENTS[seat]),
                (names.NUM_MODULE_STEPS_SAMPLED, SEATS[seat]),
            ):
                self.metrics.log_value((name, key), count, reduce="sum")
                self.metrics.log_value((f"{name}_lifetime", key), count, reduce="lifetime_sum")
        total = sum(counts)
        self._log_env_steps(self._metrics_num_env_steps_sampled, total)
        self.metrics.log_value(names.NUM_ENV_STEPS_SAMPLED, total, reduce="sum")
        self.metrics.log_value(
            names.NUM_ENV_STEPS_SAMPLED_LIFETIME, total, reduce="lifetime_sum", with_throughput=True
        )
        self.metrics.log_value(names.NUM_EPISODES, battles, reduce="sum")
        self.metrics.log_value(names.NUM_EPISODES_LIFETIME, battles, reduce="lifetime_sum")
