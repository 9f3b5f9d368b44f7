"""Train algorithms of OpenSpiel on the exact game of a duel, and grade them exactly.

    python -m agents.openspiel
    python -m agents.openspiel --algorithm NFSP
    python -m agents.openspiel --scenario archmage-duel --steps 3000000

Both seats learn at once. MCCFR is Monte Carlo counterfactual regret minimisation with external
sampling (Lanctot et al. 2009): a table of all positions, and the average of its policies. NFSP is
neural fictitious self-play (Heinrich and Silver 2016): each seat has a network that imitates its
best responses so far, which deep Q-learning finds. Games in Python are slow and OpenSpiel walks
histories, so only duels with few spells are practical.

Writes into the run's folder results.json with the learning curve, and the policies as tables that
play like any other player, caster.table.npz and dispeller.table.npz. Ctrl-C keeps the policies
trained so far. Needs the extra `openspiel`; NFSP also needs the package dm-tree.
"""

from wfb_gym._commands import run_main

if __name__ == "__main__":
    run_main("agents.openspiel")

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

try:
    from open_spiel.python import rl_environment
    from open_spiel.python.algorithms.external_sampling_mccfr import ExternalSamplingSolver
except ImportError as error:
    raise ImportError(
        'agents.openspiel needs open_spiel: pip install "wfb-gym[openspiel]"'
    ) from error

from agents.common import DeferredInterrupt, report
from agents.run_folder import OVERWRITE, occupy, refuse_other_settings, run_command
from experiments import command_lines, common
from experiments.progress import progress
from wfb_gym.cli.parser import option
from wfb_gym.encoding.positions import ask_policy
from wfb_gym.interop.openspiel import PhaseGame, PolicyPlayer, load_battle
from wfb_gym.opponents.policy_spec import TABLE_ENDING
from wfb_gym.players.policy_table import MOST_ROWS, save_table
from wfb_gym.seats import SEATS, seat_number
from wfb_gym.solver import ExactGame, TooLarge
from wfb_gym.solver.seat_decisions import SeatDecisions

MODULE = "agents.openspiel"
ALGORITHMS = ("MCCFR", "NFSP")
QUICK = {"steps": 300, "evaluations": 2}
FREE = ("out",)
"""Settings that do not affect learning."""
NFSP_OPTIONS: dict[str, Any] = {
    "hidden_layers_sizes": [64, 64], "reservoir_buffer_capacity": 200_000,
    "anticipatory_param": 0.1, "batch_size": 128, "rl_learning_rate": 1e-3,
    "sl_learning_rate": 1e-3, "min_buffer_size_to_learn": 1000, "learn_every": 32,
    "optimizer_str": "adam", "replay_buffer_capacity": 50_000, "epsilon_start": 0.2,
    "epsilon_end": 0.02, "epsilon_decay_duration": 200_000, "update_target_network_every": 1000,
    "discount_factor": 1.0,
}  # fmt: skip
"""NFSP arguments other than the numbers of observed values and actions."""


@dataclass(frozen=True)
class Settings:
    """Settings for a run.

    Attributes:
        algorithm: algorithm of OpenSpiel.
        scenario: bundled name or file.
        steps: decisions of both seats in all.
        seed: seed of network, sampling and dice.
        evaluations: points of the learning curve after the first.
        out: folder of the results.
    """

    algorithm: str = option(ALGORITHMS[0], choices=ALGORITHMS)
    scenario: str = "apprentice"
    steps: int = 200_000
    seed: int = 0
    evaluations: int = 10
    out: Path = option(Path("runs"), help="(default: runs/SCENARIO-ALGORITHM)")


class Mccfr(ExternalSamplingSolver):
    """External-sampling MCCFR that counts the decisions it visits."""

    def __init__(self, game: PhaseGame, seed: int) -> None:
        super().__init__(game)
        self.steps = 0
        player = PolicyPlayer(game, self.average_policy())
        self.policies = [player.action_probabilities] * len(SEATS)

    def advance(self) -> None:
        """Run one iteration: one walk per player."""
        self.iteration()

    def _update_regrets(self, state: Any, player: int) -> Any:
        self.steps += state.current_player() >= 0
        return super()._update_regrets(state, player)


class Nfsp:
    """Two NFSP agents that play battles against each other."""

    def __init__(self, game: PhaseGame, seed: int) -> None:
        from open_spiel.python.pytorch.nfsp import NFSP  # needs dm-tree

        self.steps = 0
        self.envs = rl_environment.Environment(game)
        self.envs.seed(seed)
        self.size = self.envs.observation_spec()["info_state"][0]
        actions = self.envs.action_spec()["num_actions"]
        self.agents = [
            NFSP(seat, self.size, actions, seed=1000 * seed + 10 * seat, **NFSP_OPTIONS)
            for seat in range(len(SEATS))
        ]
        self.policies: list[Callable[..., Any]] = [self._policy_of(each) for each in self.agents]

    def advance(self) -> None:
        """Play a battle."""
        seen = self.envs.reset()
        while not seen.last():
            chosen = self.agents[seen.observations["current_player"]].step(seen)
            self.steps += 1
            seen = self.envs.step([chosen.action])
        for each in self.agents:
            each.step(seen)

    def _policy_of(self, agent: Any) -> Callable[..., Any]:
        """Return an agent's average policy for observations from the seat's environment."""

        def probabilities(observations: Any, masks: Any) -> Any:
            padded = np.zeros((len(observations), self.size), np.float32)
            padded[:, : observations.shape[1]] = observations
            with torch.no_grad():
                # no public method handles a batch
                logits = agent._avg_network(torch.from_numpy(padded)).double()  # noqa: SLF001
            logits = logits[:, : masks.shape[1]]
            return logits.masked_fill(~torch.from_numpy(masks), -np.inf).softmax(1).numpy()

        return probabilities


def save_policy(
    path: Path, exact: ExactGame, policy: Callable[..., Any], seat: str, about: dict[str, Any]
) -> None:
    """Write a policy's probabilities at all of a seat's decisions as a table."""
    decisions = SeatDecisions(exact.graph, seat_number(seat))
    parts = []
    for nodes in decisions.batches():
        observations, masks = decisions.observe(nodes)
        ask = partial(decisions.positions, nodes)
        parts.append((observations, ask_policy(policy, observations, masks, ask)))
    observations, probabilities = (np.concatenate(each) for each in zip(*parts, strict=True))
    save_table(path, observations, probabilities, {**about, "seat": seat})


def run(settings: Settings, exact: ExactGame) -> dict[str, Any]:
    """Train, grading along the way, then write and return the results."""
    np.random.seed(settings.seed)  # noqa: NPY002 # OpenSpiel's algorithms use the global generator
    torch.manual_seed(settings.seed)
    torch.set_num_threads(1)
    game = load_battle(settings.scenario)
    learner = (Mccfr if settings.algorithm == "MCCFR" else Nfsp)(game, settings.seed)
    curve: list[dict[str, Any]] = []
    seconds = 0.0
    with DeferredInterrupt("after this battle") as interrupt, progress() as bar:
        task = bar.add_task("training", total=settings.steps, note="")
        while True:
            ended = learner.steps >= settings.steps or interrupt.requested
            if ended or learner.steps >= len(curve) * settings.steps / settings.evaluations:
                scores = {
                    seat: exact.score(exact.probabilities(policy, seat), seat).score
                    for seat, policy in zip(SEATS, learner.policies, strict=True)
                }
                at = {"frames": learner.steps, "seconds": round(seconds, 2)}
                curve.append({**at, "scores": scores})
                note = " ".join(f"{seat} {score:.1f}" for seat, score in scores.items())
                bar.update(task, completed=min(learner.steps, settings.steps), note=note)
            if ended:
                break
            began = time.monotonic()
            learner.advance()
            seconds += time.monotonic() - began
    about = {
        "scenario": settings.scenario,
        "command": command_lines.command_line(MODULE, settings),
        "scores": curve[-1]["scores"],
    }
    for seat, policy in zip(SEATS, learner.policies, strict=True):
        save_policy(settings.out / f"{seat}{TABLE_ENDING}", exact, policy, seat, about)
    return {
        "args": common.settings_as_json(settings),
        "interrupted": interrupt.requested,
        "frames": learner.steps,
        "seconds": round(seconds, 2),
        "scores": curve[-1]["scores"],
        "curve": curve,
        "versions": common.versions(("open_spiel",)),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Train, grade, write the results and return the exit status."""
    settings, switches, parser = common.parse_settings(
        Settings,
        arguments,
        module=MODULE,
        description=__doc__,
        quick=QUICK,
        switches=OVERWRITE,
        usual_out=lambda s: Path("runs") / f"{Path(s.scenario).stem}-{s.algorithm}",
    )
    common.check_signs(parser, settings, ["steps", "evaluations"], ["seed"])

    def work() -> int:
        try:
            if "overwrite" not in switches:
                refuse_other_settings(settings.out, common.settings_as_json(settings), FREE)
            exact = ExactGame(settings.scenario)
            decisions = max(np.bincount(exact.graph.kinds[exact.graph.counts > 0], minlength=1))
            if decisions > MOST_ROWS:
                raise ValueError(
                    f"--scenario: expected at most {MOST_ROWS:,} decisions of a seat, as a table "
                    f"holds, found {decisions:,}"
                )
        except (ValueError, OSError, TooLarge) as error:
            parser.error(str(error))
        with occupy(settings.out):
            results = run(settings, exact)
            common.write_results(settings.out, results)
        found = ", ".join(f"{seat} {score:.2f}" for seat, score in results["scores"].items())
        return report(results, "json" in switches, f"exact scores: {found}")

    return run_command(MODULE, settings.out, work)
