"""Names of policies: players with an option, shipped networks and files."""

from pathlib import Path

import pytest

from tests.support.scripts import run_python
from wfb_gym.opponents.policy_spec import PolicySpec


@pytest.mark.parametrize(
    ("text", "option"),
    [
        ("veteran", None), ("veteran:0.2", 0.2), ("optimal:0", 0.0), ("mcts:200", 200),
        ("generalist:2", 2),
    ],
)  # fmt: skip
def test_players_have_a_name_and_an_option(text: str, option: object) -> None:
    spec, name = PolicySpec.parse(text), text.partition(":")[0]
    assert (spec.text, spec.name, spec.option, spec.is_file) == (text, name, option, False)


@pytest.mark.parametrize(
    ("path", "ending"), [("a/b.zip", ".zip"), ("b.npz", ".npz"), ("C:/b.table.npz", ".table.npz")]
)
def test_files_are_known_by_their_ending(path: str, ending: str) -> None:
    spec = PolicySpec.parse(Path(path))
    assert (spec.name, spec.path, spec.ending, spec.is_file) == (path, Path(path), ending, True)


def test_models_take_their_likeliest_action_or_sample() -> None:
    assert PolicySpec.parse("a.npz").deterministic is None
    spec = PolicySpec.parse("argmax:C:/b.zip")
    assert (spec.path, spec.deterministic, spec.is_file) == (Path("C:/b.zip"), True, True)
    shipped = PolicySpec.parse("sample:apprentice/caster")
    found = shipped.name, shipped.deterministic, shipped.is_file
    assert found == ("apprentice/caster", False, False)
    for text in ("veteran", "mcts:20", "generalist:1", "sample:b.zip", ""):
        with pytest.raises(ValueError, match="expected a saved model's path after argmax:"):
            PolicySpec.find(f"argmax:{text}", "who")


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        *((text, "") for text in ("", "random0.1", "learned:", "caster")),
        ("veteranx", "did you mean veteran"),
        ("genralist", "did you mean generalist"),
        ("caster.zpi", "'caster.zpi'$"),
    ],
)
def test_other_names_are_found_nowhere(text: str, hint: str) -> None:
    assert PolicySpec.find(text) is None
    with pytest.raises(ValueError, match=r"^--opponent: expected one of random, greedy.*" + hint):
        PolicySpec.parse(text, "--opponent")


@pytest.mark.parametrize(
    "text",
    ["veteran:", "veteran:1.5", "veteran:nan", "mcts:0", "mcts:1e3", "mcts:12345678", "expectimax:",
     "search:x"],
)  # fmt: skip
def test_impossible_options_are_rejected(text: str) -> None:
    with pytest.raises(ValueError, match=f"^who: expected .* after {text.partition(':')[0]}:"):
        PolicySpec.find(text, "who")


def test_reading_names_imports_no_player() -> None:
    code = (
        "import sys; from wfb_gym.opponents.policy_spec import PolicySpec\n"
        "PolicySpec.parse('mcts:3'); assert 'numba' not in sys.modules\n"
        "assert not any(name.startswith('wfb_gym.players') for name in sys.modules)"
    )
    assert run_python("-c", code).status == 0
