"""A run of training: its learners, the loop of their updates, and what a checkpoint holds of it."""

import sys
import time
from typing import Any

from agents.training import checkpoints
from agents.training.board import new_folder, new_logger
from agents.training.grading import Exact, graders, solutions
from agents.training.pause import Pause
from agents.training.pool import SELF, Selves, expanded, fit_for_partner
from agents.training.settings import Args, other_seat
from agents.training.trainee import Trainee
from experiments.common import progress


class Session:
    """A run, from its settings to its last update.

    Args:
        args: of the run.

    Attributes:
        trainees: the asked seat's, and in self-play the other's behind it.
        seconds: that training took, evaluations included, before an interruption too.
        examining: seconds of those that evaluations took.
    """

    def __init__(self, args: Args) -> None:
        self.args = args
        self.solutions = solutions(args)
        solvable = len(self.solutions) == len(args.scenarios)
        self.opponents = expanded(args.opponents, solvable)
        seats = [args.seat]
        self._selves: dict[str, Selves] = {}
        if SELF in self.opponents:
            seats.append(other_seat(args.seat))
            self._selves = {
                seat: Selves(args.snapshots, (args.seed, number))
                for number, seat in enumerate(seats)
            }
        self.trainees = []
        for seat in seats:
            own = self.opponents if seat == args.seat else fit_for_partner(self.opponents)
            trainee = Trainee(args, seat, own, self._selves.get(other_seat(seat)))
            trainee.graders = graders(own, solvable)
            for name, solution in self.solutions.items():
                trainee.exact[name] = Exact(solution, seat, trainee.envs.limits)
            self.trainees.append(trainee)
        self.updates = 0
        self.seconds = self.examining = 0.0
        self._saved = 0.0
        self._board = ""

    def begin(self, state: dict[str, Any] | None = None) -> None:
        """Make ready for the first update, or for the one behind a checkpoint.

        Args:
            state: of the checkpoint, as `get_state` gave it.
        """
        args = self.args
        folder = new_folder(args.out) if state is None else args.out / state["board"]
        self._board = folder.relative_to(args.out).as_posix()
        self._snapshot()  # opponents who begin a battle are asked in the reset
        for trainee in self.trainees:
            own = folder / trainee.seat if len(self.trainees) > 1 else folder
            steps = None if state is None else state["trainees"][trainee.seat]["model"]["steps"]
            trainee.model.begin(new_logger(own, None if steps is None else steps + 1))
        if state is None:
            return
        for trainee in self.trainees:
            trainee.set_state(state["trainees"][trainee.seat])
            if self._selves:
                former = state["selves"][trainee.seat]
                self._selves[trainee.seat].set_state(former, trainee.model.policy)
        self.updates = int(state["updates"])
        self.seconds, self.examining = float(state["seconds"]), float(state["examining"])
        checkpoints.set_generators(state["generators"])

    def get_state(self) -> dict[str, Any]:
        """Everything that the rest of the run depends on."""
        return {
            "args": self.args.plain(),
            "trainees": {each.seat: each.get_state() for each in self.trainees},
            "selves": {seat: each.get_state() for seat, each in self._selves.items()},
            "updates": self.updates,
            "seconds": self.seconds,
            "examining": self.examining,
            "board": self._board,
            "generators": checkpoints.get_generators(),
        }

    def save(self) -> None:
        """Write the checkpoint; if that fails, say so and go on."""
        try:
            checkpoints.write(checkpoints.place(self.args.out), self.get_state())
        except OSError as error:
            print(f"no checkpoint: {error}", file=sys.stderr)

    def run(self, every: float) -> bool:
        """Go on to the end, or until Ctrl-C; a checkpoint is left in either case.

        Args:
            every: seconds between two checkpoints.

        Returns:
            Whether it was interrupted.
        """
        told = time.monotonic()
        with progress() as bar, Pause() as pause:
            tasks = [
                bar.add_task(f"training {each.seat}", total=each.model.horizon, note="")
                for each in self.trainees
            ]
            while True:
                for task, trainee in zip(tasks, self.trainees, strict=True):
                    self._examine(trainee)
                    bar.update(task, completed=trainee.model.num_timesteps, note=trainee.told())
                told = self._clock(told)
                if pause.asked or all(each.model.done for each in self.trainees):
                    break
                if self.seconds - self._saved >= every:
                    self._saved = self.seconds
                    self.save()
                for trainee in self.trainees:
                    if not trainee.model.done:
                        trainee.model.update()
                self.updates += 1
                if self.updates % self.args.snapshot_updates == 0:
                    self._snapshot()
        self.save()
        return pause.asked

    def _snapshot(self) -> None:
        """Hand both learners as they are now to each other."""
        for trainee in self.trainees:
            if self._selves:
                self._selves[trainee.seat].take(self.updates, trainee.model.policy)

    def _examine(self, trainee: Trainee) -> None:
        if trainee.due:
            began = time.monotonic()
            trainee.examine()
            self.examining += time.monotonic() - began

    def _clock(self, told: float) -> float:
        now = time.monotonic()
        self.seconds += now - told
        return now
