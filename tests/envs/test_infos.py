"""Infos of vector steps: plain dicts of arrays in every mode, also when episodes end."""

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import data_equivalence
from gymnasium.vector import AutoresetMode

from tests.support.batches import native, sync
from tests.support.playing import IDS, picks

CASTER = IDS[0]
MODES = pytest.mark.parametrize("mode", list(AutoresetMode))


def ending_infos(mode: AutoresetMode = AutoresetMode.SAME_STEP, **keys: Any) -> dict[str, Any]:
    """Return the infos of a step in which the first of three episodes ends."""
    envs = native(CASTER, 3, autoreset_mode=mode, **keys)
    envs.reset(seed=1)
    *_, terminations, _, infos = envs.step(np.array([0, 6, 6]))
    assert terminations.tolist() == [True, False, False]
    return infos  # type: ignore[no-any-return]


def assert_plain(infos: dict[str, Any]) -> None:
    assert type(infos) is dict
    for key, value in infos.items():
        if key == "final_info":
            assert_plain(value)
        else:
            assert type(value) is np.ndarray


@MODES
def test_infos_are_plain_dicts_of_arrays(mode: AutoresetMode) -> None:
    infos = ending_infos(mode)
    assert ("final_info" in infos) == (mode == AutoresetMode.SAME_STEP)
    assert_plain(infos)


@pytest.mark.parametrize(
    ("library", "flatten"), [("torch.utils._pytree", "tree_leaves"), ("tree", "flatten")]
)
def test_libraries_find_every_array(library: str, flatten: str) -> None:
    leaves = getattr(pytest.importorskip(library), flatten)(ending_infos())
    assert len(leaves) == 11
    assert all(type(leaf) is np.ndarray for leaf in leaves)


def test_infos_equal_those_of_gymnasiums_own_to_the_type() -> None:
    envs = sync(CASTER, 3, AutoresetMode.SAME_STEP)
    envs.reset(seed=1)
    *_, infos = envs.step(np.array([0, 6, 6]))
    assert data_equivalence(ending_infos(), infos)


def test_final_infos_may_be_left_out() -> None:
    with_them, without = (native(CASTER, 4, final_infos=each) for each in (True, False))
    observations, infos = with_them.reset(seed=5)
    without.reset(seed=5)
    ended = illegal = 0
    for step in range(60):
        actions = picks(observations, infos["action_mask"])
        actions[0] = step % 10
        observations, *others, infos = with_them.step(actions)
        seen, *same, less = without.step(actions)
        final = infos.pop("final_info", None)
        for key in ("final_obs", "_final_obs", "_final_info"):
            assert (infos.pop(key, None) is None) == (final is None)
        if final is not None:
            ended += 1
            infos["illegal_action"] |= final["illegal_action"]
            illegal += int(final["illegal_action"].sum())
        assert data_equivalence([observations, *others, infos], [seen, *same, less])
    assert ended > 5
    assert illegal > 0


@MODES
def test_make_vec_takes_final_infos(mode: AutoresetMode) -> None:
    envs = gym.make_vec(CASTER, 2, final_infos=False, autoreset_mode=mode)
    envs.reset(seed=1)
    *_, infos = envs.step(np.zeros(2, np.int64))
    assert set(infos) == {"action_mask", "_action_mask", "illegal_action", "_illegal_action"}
