"""Text games of adapters: one set of options, one seed for each episode."""

import pytest

from wfb_gym.generating import TEST_SEEDS, generate
from wfb_gym.generating.options import KINDS
from wfb_gym.interop.text import TextGame
from wfb_gym.interop.text_episodes import TextEpisodes
from wfb_gym.scenario import ScenarioError


def test_the_seed_gives_the_battle_of_a_text_game() -> None:
    game, text = TextEpisodes("archmage-duel", "caster", "greedy", retries=3, odds=True).start(4)
    direct = TextGame("archmage-duel", "caster", "greedy", retries=3, odds=True, max_bytes=0)
    assert text == direct.reset(4)
    assert game.step("[1]") == direct.step("[1]")


@pytest.mark.parametrize("seed", [0, 7])
def test_the_seed_is_the_index_of_a_generated_scenario(seed: int) -> None:
    options = KINDS["duel-500"]
    train, _ = TextEpisodes("generated-duel-500").start(seed)
    test, _ = TextEpisodes("generated-duel-500:test").start(seed)
    assert train.scenario == generate(seed, options)
    assert test.scenario == generate(TEST_SEEDS[seed], options)


def test_kinds_take_turns() -> None:
    episodes = TextEpisodes("generated-all")
    kinds = list(KINDS.values())
    for seed in (1, len(kinds) + 4):
        assert episodes.scenario_of(seed) == generate(seed, kinds[seed % len(kinds)])


def test_large_seeds_wrap_around() -> None:
    episodes = TextEpisodes("generated-duel-500:test")
    assert episodes.scenario_of(2**31 + 3) == episodes.scenario_of(3)


def test_a_bundled_scenario_is_solved_once() -> None:
    episodes = TextEpisodes("apprentice", max_bytes=1 << 26)
    first, second = (episodes.start(seed)[0] for seed in (0, 1))
    assert first.grader is second.grader
    assert first is not second
    assert first.step("[0]")[3]["regret"] == pytest.approx(15.486, abs=1e-3)


def test_unknown_options_are_rejected() -> None:
    with pytest.raises(ValueError, match="points_per_reward"):
        TextEpisodes(points_per_reward=0.0)
    with pytest.raises(ValueError, match="seed: expected 0 or more, found -1"):
        TextEpisodes().start(-1)
    for name in ("generated-unknown", "no-such-scenario"):
        with pytest.raises(ScenarioError):
            TextEpisodes(name).start(0)
