"""The function that each thread of a GPU runs: a step of one environment.

`wfb_gym.device` compiles it. The step itself is `wfb_gym.envs.kernel.drive_member`, which the CPU
runs, too.
"""

from typing import Any

import numpy as np
from numpy import uint64
from numpy.typing import NDArray

from wfb_gym._intrinsics import load_record_word, store_record_word
from wfb_gym._jit import int64, jit
from wfb_gym._records import dtype_of, new_records
from wfb_gym.encoding.fields import LayoutOffsets
from wfb_gym.encoding.view import ViewArrays
from wfb_gym.engine.state import WorkSpace, new_work_spaces
from wfb_gym.envs.kernel import (
    ENVIRONMENT,
    BatchGame,
    BatchStep,
    Environment,
    FirstPosition,
    Operation,
    drive_member,
)
from wfb_gym.opponents.move_tables import no_move_tables
from wfb_gym.packing.records import PackedScenario

WORDS = ENVIRONMENT.itemsize // 8
"""Number of 64-bit words in an environment."""
SCRATCH_BYTES = (ENVIRONMENT.itemsize, dtype_of(WorkSpace).itemsize)
"""Sizes of the last two arguments of `drive_thread`, which each thread keeps in local memory."""
_HISTORY = ENVIRONMENT.fields["history"][1] // 8  # type: ignore[index]
_AFTER_HISTORY = ENVIRONMENT.fields["status"][1] // 8  # type: ignore[index]


@jit
def _gather(own: Environment, words: NDArray[np.int64], member: int, first: int, end: int) -> None:
    count = words.shape[0] // WORDS
    for k in range(first, end):  # an unsigned index is not checked for being negative
        store_record_word(own, k, words[uint64(k * count + member)])


@jit
def _scatter(own: Environment, words: NDArray[np.int64], member: int, first: int, end: int) -> None:
    count = words.shape[0] // WORDS
    for k in range(first, end):
        words[uint64(k * count + member)] = load_record_word(own, k)


@jit(forceinline=False)
def drive_thread(
    member: int,
    actions: NDArray[np.int64],
    words: NDArray[np.int64],
    game: BatchGame,
    view: ViewArrays,
    out: BatchStep,
    own: Environment,
    work: WorkSpace,
) -> bool:
    """Play an action in one environment, which has no external opponent.

    Neighbouring threads access neighbouring words, as GPUs require for full speed. Therefore, the
    environments are stored by word: the first word of every environment, then the second word of
    every environment, and so on.

    Args:
        member: index of the environment.
        actions: the learner's actions, int64 (n,).
        words: the environments, int64 (WORDS * n,), changed in place.
        game: scenarios and opponents. `game.envs` is not used.
        view: the learner's view.
        out: the results; row `member` is written.
        own: scratch space for a copy of the environment.
        work: scratch space.

    Returns:
        Whether the action is outside the action space. If so, the environment is not changed, and
        the results are a reward of 0 and an illegal action.
    """
    if not 0 <= actions[member] < out.masks.shape[1]:
        out.rewards[member] = 0.0
        out.terminations[member] = False
        out.illegal[member] = True
        return True
    _gather(own, words, member, 0, _HISTORY)
    if game.notes:
        _gather(own, words, member, _HISTORY, _AFTER_HISTORY)
    _gather(own, words, member, _AFTER_HISTORY, WORDS)
    drive_member(Operation.STEP, member, member, own, actions, game, view, out, work)
    _scatter(own, words, member, 0, _HISTORY)
    if game.notes:
        _scatter(own, words, member, _HISTORY, _AFTER_HISTORY)
    _scatter(own, words, member, _AFTER_HISTORY, WORDS)
    return False


def thread_arguments() -> tuple[Any, ...]:
    """Return arguments of the types for which `drive_thread` is compiled."""
    game = BatchGame(
        new_records(Environment, 1), new_records(PackedScenario, 1), new_records(FirstPosition, 1),
        False, np.zeros(1, np.int64), no_move_tables(), 0, False, 1.0, True,
    )  # fmt: skip
    view = ViewArrays(
        0, np.zeros(1, np.int64), np.zeros(1, np.int64), new_records(LayoutOffsets, 1),
        np.zeros((1, 1), np.float32),
    )  # fmt: skip
    out = BatchStep(
        np.zeros((1, 1), np.float32), np.zeros((1, 1), np.bool_), np.zeros(1),
        np.zeros(1, np.bool_), np.zeros(1, np.bool_), np.zeros((1, 1), np.float32),
    )  # fmt: skip
    actions, words = np.zeros(1, np.int64), np.zeros(WORDS, np.int64)
    own, work = new_records(Environment, 1)[0], new_work_spaces()[0]
    return int64(0), actions, words, game, view, out, own, work
