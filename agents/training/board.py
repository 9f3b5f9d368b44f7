"""TensorBoard: the curves of a run, which go on in one piece after it was resumed."""

from pathlib import Path
from typing import Any

from stable_baselines3.common.logger import KVWriter, Logger
from torch.utils.tensorboard.writer import SummaryWriter

from agents.training.grading import Point, summary


class Board(KVWriter):
    """Writes numbers for TensorBoard.

    Args:
        folder: of the event files.
        purge: step from which on what an interrupted run wrote is taken back; None for none.
    """

    def __init__(self, folder: Path, purge: int | None) -> None:
        self._writer = SummaryWriter(log_dir=str(folder), purge_step=purge)

    def write(
        self,
        key_values: dict[str, Any],
        key_excluded: dict[str, tuple[str, ...]],
        step: int = 0,
    ) -> None:
        for key, value in key_values.items():
            if "tensorboard" not in (key_excluded[key] or ()):
                self._writer.add_scalar(key, float(value), step)
        self._writer.flush()

    def close(self) -> None:
        self._writer.close()


def new_logger(folder: Path, purge: int | None = None) -> Logger:
    """A logger for TensorBoard alone; see `Board`."""
    return Logger(str(folder), [Board(folder, purge)])


def new_folder(out: Path) -> Path:
    """A folder for a new run's curves, beside those of earlier runs."""
    number = 1
    while (out / "tensorboard" / f"run-{number}").exists():
        number += 1
    return out / "tensorboard" / f"run-{number}"


def record(logger: Logger, point: Point) -> None:
    """Write a point of the learning curve."""
    for name, each in point.scores.items():
        logger.record(f"points/{Path(name).stem}", each.mean)
    told = summary(point.exact)
    if told is not None:
        logger.record("exact/exploitability", told.exploitability)
        logger.record("exact/score", told.mean)
    if len(point.exact) > 1:
        for name, exact in point.exact.items():
            logger.record(f"exact/exploitability/{name}", exact.optimum - exact.guaranteed)
    logger.dump(point.steps)
