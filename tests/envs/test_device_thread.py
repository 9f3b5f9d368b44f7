"""A GPU thread: the words of an environment that it copies, and actions outside the space."""

import numpy as np
import pytest

from wfb_gym.envs import device_thread
from wfb_gym.envs.device_thread import _AFTER_HISTORY, _HISTORY, drive_thread, thread_arguments
from wfb_gym.envs.kernel import ENVIRONMENT


def test_histories_that_are_not_recorded_are_the_only_words_that_are_not_copied() -> None:
    env = np.zeros(1, ENVIRONMENT)
    for name in ENVIRONMENT["history"].names or ():
        env["history"][name] = -1
    assert np.flatnonzero(env.view(np.int64)).tolist() == [*range(_HISTORY, _AFTER_HISTORY)]


@pytest.mark.parametrize(("action", "is_outside"), [(-1, True), (0, False), (1, True)])
def test_only_actions_of_the_space_are_played(
    action: int, is_outside: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("_gather", "drive_member", "_scatter"):
        monkeypatch.setattr(device_thread, name, lambda *_: None)
    in_python = getattr(drive_thread, "py_func", drive_thread)
    arguments = thread_arguments()  # a space of one action
    arguments[1][0] = action
    assert in_python(*arguments) == arguments[5].illegal[0] == is_outside
