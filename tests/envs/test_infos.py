"""Infos of vector steps when episodes end; `test_vector` compares them with Gymnasium's own."""

import numpy as np
import pytest
from gymnasium.utils.env_checker import data_equivalence

from tests.support.batches import native
from tests.support.playing import IDS, picks

CASTER = IDS[0]


@pytest.mark.parametrize(
    ("library", "flatten"), [("torch.utils._pytree", "tree_leaves"), ("tree", "flatten")]
)
def test_libraries_find_every_array(library: str, flatten: str) -> None:
    envs = native(CASTER, 3)
    envs.reset(seed=1)
    *_, terminations, _, infos = envs.step(np.array([0, 6, 6]))
    assert terminations.tolist() == [True, False, False]
    leaves = getattr(pytest.importorskip(library), flatten)(infos)
    assert len(leaves) == 11
    assert all(type(leaf) is np.ndarray for leaf in leaves)


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
        assert data_equivalence([observations, *others, infos], [seen, *same, less], exact=True)
    assert ended > 5
    assert illegal > 0
