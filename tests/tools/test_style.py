"""The check of wording and names: it finds every habit, and the repository has none."""

from collections.abc import Mapping

import pytest

from tests.support.pages import PACKAGE, ROOT
from tools import style
from tools.style import RULES, Rules, find_all, read_repository

TEXT = (ROOT / RULES).read_text(encoding="utf-8")
HABITS = TEXT.partition("[[allow]]")[0]

EXAMPLES = {
    "Install what training needs.": "what",
    "What others have not": "What",
    "The answer is right. Who plays next is public.": "Who",
    "That it was asked has no effect.": "That it",
    "A guess of who plays next": "of who",
    "Nobody wins more.": "Nobody",
    "Ask somebody who knows.": "somebody",
    "Whoever moves next, whose turn it is": "Whoever",
    "the player whom it asks": "whom",
    "Whatever the dice show, it ends.": "Whatever",
    "Of two actions it takes the first.": "Of",
    "Where there are none, it returns 0.": "Where",
    "Some are equal; of these it takes the first.": "of",
    "Being asked tells nothing.": "tells",
    "The error is told in one line.": "told",
    "It takes minutes and says so.": "says so",
    "The page says why.": "page says",
    "The reader refuses other files.": "refuses",
    "It is computed anew.": "anew",
    "It takes so many\nsteps.": "so many",
    "Likewise the other army": "Likewise",
    "A name in the file goes over that.": "goes over",
    "The score stands at zero.": "stands",
    "The value is that of the caster.": "that of",
    "Ask those who know.": "those who",
    "one that another army owns": "one that",
    "for this army alone": "alone",
    "a mode that there is none of": "there is none of",
    "It says nothing, and so does the other.": "and so does",
    "Rules are compiled; so is the solver.": "so is",
    "It is no rule. Nor is it a number.": "Nor is",
    "With it comes the score.": "With it comes",
    "The list is short. Counted are the wounds.": "Counted are",
    "The rule in force, lest it ends": "in force",
    "For want of a model the search goes on.": "For want of",
}
CLEAN = (
    "What will you cast?",
    "How it compares",
    "A player who might hold an answer is always asked, so being asked reveals nothing.",
    "If two actions are equal, it takes the first one. Only the first one counts.",
    "No player knows the dice, so few rules depend on them; let alone all.",
    "Speed is measured in steps per second. Then it is returned.",
    "The argument `what`, and `told`",
    "See [the page](anew.md) at https://whoever.example/anew.",
    "The Oxen Stands",
)


def found(text: str, path: str = "docs/page.md", rules: str = HABITS) -> list[tuple[int, str]]:
    """Return the lines and words of the findings in a file."""
    return [(one.line, one.found) for one in find_all({path: text}, Rules(rules))]


@pytest.mark.parametrize(("text", "words"), EXAMPLES.items())
def test_a_habit_is_found_in_docs_comments_docstrings_and_messages(text: str, words: str) -> None:
    line = 1 + text.partition(words)[0].count("\n")
    expected = (line, " ".join(words.split()))
    assert expected in found(text)
    comment = text.replace("\n", "\n# ")
    assert (line + 1, expected[1]) in found(f"x = 1\n# {comment}", "a.py")
    assert (line + 3, expected[1]) in found(f'"""First line.\n\n\n{text}"""\n', "a.py")
    message = text.replace("\n", " ")
    assert (1, expected[1]) in found(f'print(f"{{2:{{3}}}}: {message}")', "a.py")
    assert (1, expected[1]) in found(f"help = '{message}'", "a.toml")


def test_every_habit_has_an_example() -> None:
    texts = [[(1, text)] for text in EXAMPLES]
    for habit, advice in Rules(HABITS).habits:
        alone = Rules(HABITS)
        alone.habits = [(habit, advice)]
        assert any(list(style.find_habits("", prose, alone)) for prose in texts), habit.pattern


@pytest.mark.parametrize("text", CLEAN)
def test_plain_english_is_accepted(text: str) -> None:
    assert found(text) == []
    assert found(f'"""{text}"""\n', "a.py") == []


def test_code_does_not_count() -> None:
    assert found("```python\ntold = what(nobody)  # anew\n```\n<!-- anew -->\n") == []
    code = 'what = stands(alone, "anew", f"{alone}: {other.alone!r} {3:{whatever}}")\n'
    assert found(code, "a.py") == []
    assert found("x = f\"the value {'goes on' if x else 'ends'}\"\n", "a.py") == [(1, "goes on")]


def test_a_sentence_over_several_lines_or_strings_is_found() -> None:
    assert found("x = 1\n# It takes so\n# many steps.\n", "a.py") == [(2, "so many")]
    assert found('x = (\n    "It takes so "\n    f"many steps"\n)\n', "a.py") == [(2, "so many")]
    assert found('x = ["It takes so", "many steps"]\n', "a.py") == []
    assert found("| a | so |\n| many | b |\n") == []


@pytest.mark.parametrize(
    ("path", "code", "names"),
    [
        ("a.py", "def _promised(): ...\n", ["_promised"]),
        ("a.py", '"""One\ntwo."""\n\nclass BellState: ...\n', ["BellState"]),
        ("a.py", "x = toldest + compromise + label\n", []),
        ("wfb_gym/promises.py", "", ["promises"]),
    ],
)
def test_metaphors_are_found_in_names(path: str, code: str, names: list[str]) -> None:
    last = max(1, code.count("\n"))
    assert found(code, path) == [(last, name) for name in names]


def test_a_public_name_of_two_modules_is_found() -> None:
    one, two = "wfb_gym/one.py", "tools/two.py"
    code = '"""Text\nof the module."""\n\n\ndef play(): ...\ndef _own(): ...\nclass Play: ...\n'
    texts = {one: code, two: f"# A comment\n{code}", "tests/three.py": code}
    first, second = find_all(texts, Rules(HABITS))
    assert str(first) == f"{one}:5: 'play': use another name than in {two}:6"
    assert str(second) == f"{one}:7: 'Play': use another name than in {two}:8"
    assert find_all({one: code.replace("class Play", "def play")}, Rules(HABITS)) == []


def entry(**keys: str) -> Rules:
    lines = "".join(f"{key} = {value!r}\n" for key, value in keys.items())
    return Rules(f"{HABITS}\n[[allow]]\n{lines}")


@pytest.mark.parametrize(
    ("keys", "is_allowed"),
    [
        ({"text": "so many"}, True),
        ({"path": "docs/*.md"}, True),
        ({"path": "docs/page.md", "text": "takes so many steps"}, True),
        ({"path": "tests/*"}, False),
        ({"text": "so many times"}, False),
        ({"text": "takes"}, False),
    ],
)
def test_an_exception_needs_the_path_and_the_words(
    keys: Mapping[str, str], is_allowed: bool
) -> None:
    left = find_all({"docs/page.md": "It takes so\nmany steps."}, entry(**keys, reason="test"))
    assert len(left) == (0 if is_allowed else 2)
    if not is_allowed:
        line = HABITS.count("\n") + 2
        assert str(left[1]).startswith(f"{RULES}:{line}: ")
        assert left[1].advice == "remove it: it allows nothing"


@pytest.mark.parametrize(
    "keys", [{"text": "so many"}, {"reason": "none"}, {"text": "so many", "reason": "", "x": "y"}]
)
def test_an_exception_without_a_reason_is_reported(keys: Mapping[str, str]) -> None:
    left = find_all({"docs/page.md": "It takes so many steps."}, entry(**keys))
    assert left[-1].advice == "expected a reason, and a path, a text or both"


@pytest.mark.skipif(PACKAGE.parent != ROOT, reason="the tests run outside the repository")
def test_the_repository_is_clean(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert style.main([]) == 0
    assert capsys.readouterr().out == ""
    texts = read_repository() | {"docs/page.md": "Install what you need."}
    monkeypatch.setattr(style, "read_repository", lambda: texts)
    assert style.main([]) == 1
    assert capsys.readouterr().out == "docs/page.md:1: 'what': use a noun instead of a clause\n"
