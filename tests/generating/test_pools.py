"""Seeds of the two splits, and scenarios of many of them."""

import itertools
import json
from dataclasses import asdict
from typing import Any

import pytest

from wfb_gym.generating import (
    ALL_KINDS,
    HARD_KINDS,
    KINDS,
    OPTIONS_BY_NAME,
    TEST_SEEDS,
    TRAIN_SEEDS,
    Generated,
    Generation,
    Sizes,
    generate,
    seeds,
)
from wfb_gym.scenario import ScenarioError
from wfb_gym.scenario.sizes import POINTS

FIRST = "seeds: first: expected seeds below 2147483648, as the split"


def test_the_splits_share_no_seed_and_have_them_all() -> None:
    splits = TRAIN_SEEDS, TEST_SEEDS
    assert splits == (range(2**31), range(2**31, 2**32))
    assert list(seeds("train", 3)) == [0, 1, 2]
    assert list(seeds("train", 2, first=5)) == [5, 6]
    assert list(seeds("test", 2, first=5)) == [2**31 + 5, 2**31 + 6]
    assert seeds("train", 2**31)[-1] == 2**31 - 1


@pytest.mark.parametrize(("asked", "message"), [
    (("valid", 1, 0), 'seeds: split: expected "train" or "test", found "valid"'),
    (("train", 0, 0), "seeds: count: expected a whole number from 1 on, found 0"),
    (("train", 1, -1), "seeds: first: expected a whole number from 0 on, found -1"),
    (("train", 2, 2**31 - 1), f'{FIRST} "train" has no more, found 2 from 2147483647 on'),
])  # fmt: skip
def test_a_split_rejects_seeds_that_are_not_its_own(asked: Any, message: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        seeds(*asked)
    assert str(caught.value) == message
    split, count, first = asked
    with pytest.raises(ScenarioError, match="seeds: "):
        Generated(split=split, count=count, first=first)


def test_each_split_has_a_name() -> None:
    assert Generated.parse("generated") == Generated.parse("generated:train") == Generated()
    assert Generated.parse("generated:test") == Generated(split="test")
    assert Generated().count == 256
    assert KINDS["phase"] == Generation(phases=1)
    for kind, options in ALL_KINDS.items():
        assert Generated.parse(f"generated-{kind}") == Generated(options=options)
        assert Generated.parse(f"generated-{kind}:test") == Generated("test", options=options)
    assert Generated.parse("generated-all").options == tuple(KINDS.values())
    assert Generated.parse("generated-hard").options == tuple(HARD_KINDS.values())
    assert Generated.parse("generated-duel:test:9") == Generated("test", 9, options=KINDS["duel"])


@pytest.mark.parametrize(("text", "expected"), [
    ("generated:", "generated or generated:train or generated:test"),
    ("generated-duel:7", "generated-duel or generated-duel:train or generated-duel:test or "),
    ("generated:test:", "generated or generated:train or generated:test or generated:train:C"),
    ("generated:train:x", "generated or "), ("generated:train:3:4", "generated or "),
    ("generated-duell", "a kind (did you mean generated-duel or generated-duel-3 or"),
    ("", f"a kind ({', '.join(OPTIONS_BY_NAME)})"),
])  # fmt: skip
def test_other_words_are_rejected(text: str, expected: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        Generated.parse(text)
    assert str(caught.value).startswith(f"scenario: expected {expected}")


def test_scenarios_follow_from_the_seeds() -> None:
    options = Generation(points=500)
    generated = Generated(split="test", count=3, first=7, options=options)
    expected = tuple(generate(2**31 + 7 + i, options) for i in range(3))
    assert generated.scenarios() == expected
    assert generated.scenarios() is Generated("test", 3, 7, options).scenarios()


def test_scenarios_take_several_options_in_turn() -> None:
    kinds = KINDS["duel"], KINDS["phase-2000"]
    generated = Generated("test", 3, 4, kinds)
    expected = tuple(generate(2**31 + 4 + i, kinds[i % 2]) for i in range(3))
    assert generated.scenarios() == expected
    fields = json.loads(json.dumps(asdict(generated)))
    assert Generated.from_fields(fields) == generated
    assert generated.sizes == Sizes(3, 7, 9, 4, 0)
    unequal = Generation(spells=10, phases=1), Generation(characters=2, wizards=2)
    assert Generated(options=unequal).sizes == Sizes(3, 5, 10, 4, POINTS)


@pytest.mark.parametrize(("wrong", "found"), [((), "[]"), ([Generation()], "a list"), (3, "3")])
def test_other_options_are_rejected(wrong: Any, found: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        Generated(options=wrong)
    expected = "expected a Generation or a tuple of at least one"
    assert str(caught.value) == f"scenario: options: {expected}, found {found}"


def test_sizes_are_those_of_the_options() -> None:
    options = Generation(characters=4, units=6, spells=10, items=5)
    assert Generated(options=options).sizes == Sizes(4, 6, 10, 5, POINTS)
    assert Generated().sizes == Sizes(3, 5, 9, 4, POINTS)
    # no Comet falls on any point
    for without in ({"phases": 1}, {"battlefield": False}, {"lores": ("Fire", "Death")}):
        assert Generated(options=Generation(**without)).sizes == Sizes(3, 5, 9, 4, 0)


def test_the_sizes_of_all_kinds_cover_the_hard_kinds() -> None:
    """So a network for the generated track can play the scenarios of the hard track."""
    hard, every = Generated.parse("generated-hard").sizes, Generated.parse("generated-all").sizes
    assert all(size <= most for size, most in zip(hard, every, strict=True))


def test_progress_is_reported_only_for_long_work(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    options = Generation(points=501)
    Generated(count=2, options=options).scenarios()
    assert capsys.readouterr().err == ""
    clock = itertools.count(0.0, 1.5)
    monkeypatch.setattr("time.monotonic", lambda: next(clock))
    Generated(count=4, first=10, options=options).scenarios()
    assert capsys.readouterr() == (
        "",
        "wfb_gym: 2 of 4 scenarios generated\nwfb_gym: 4 of 4 scenarios generated\n",
    )
