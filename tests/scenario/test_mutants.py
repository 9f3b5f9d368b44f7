"""Damaged documents: many kinds of faults, and loading handles each."""

import numpy as np

from tests.scenario.mutants import mutant


def test_the_same_generator_draws_the_same_documents() -> None:
    first, second = np.random.default_rng(1), np.random.default_rng(1)
    texts = 0
    for _ in range(60):
        one, other = mutant(first), mutant(second)
        assert type(one) is type(other)
        if isinstance(one, str):
            assert one == other
            texts += 1
        else:
            assert list(one) == list(other)
    assert 10 < texts < 50
