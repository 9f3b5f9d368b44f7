"""The check of wording and names: it finds every habit, and the repository has none."""

import pytest

from tests.support.pages import PACKAGE, ROOT
from tools import style
from tools.style import RULES, Rules, find_all, read_repository

HABITS = (ROOT / RULES).read_text(encoding="utf-8").partition("[[allow]]")[0]

EXAMPLES = {
    "Install what training needs.": "what", "The answer is right. Who plays next is public.": "Who",
    "That it was asked has no effect.": "That it", "A guess of who plays next": "of who",
    "Nobody wins more.": "Nobody", "Whoever moves next, whose turn it is": "Whoever",
    "Whatever the dice show, it ends.": "Whatever", "Of two actions it takes the first.": "Of",
    "Some are equal; of these it takes the first.": "of", "The error is told in one line.": "told",
    "The page says why.": "page says", "The reader refuses other files.": "refuses",
    "It is computed anew.": "anew", "It takes so many\nsteps.": "so many",
    "Likewise the other army": "Likewise", "The score stands at zero.": "stands",
    "The value is that of the caster.": "that of", "for this army alone": "alone",
    "a mode that there is none of": "there is none of",
    "It says nothing, and so does the other.": "and so does",
    "Rules are compiled; so is the solver.": "so is",
    "It is no rule. Nor is it a number.": "Nor is", "With it comes the score.": "With it comes",
    "The list is short. Counted are the wounds.": "Counted are",
    "The rule in force, lest it ends": "in force",
    "For want of a model the search goes on.": "For want of",
}  # fmt: skip
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
    return [(one.line, one.found) for one in find_all({path: text}, Rules(rules))]


@pytest.mark.parametrize(("text", "words"), EXAMPLES.items())
def test_a_habit_is_found_in_docs_and_messages(text: str, words: str) -> None:
    line = 1 + text.partition(words)[0].count("\n")
    words = " ".join(words.split())
    assert (line, words) in found(text)
    message = text.replace("\n", " ")
    assert (1, words) in found(f'print(f"{{2:{{3}}}}: {message}")', "a.py")


def test_every_habit_has_an_example() -> None:
    texts = [[(1, text)] for text in EXAMPLES]
    for habit, advice in Rules(HABITS).habits:
        alone = Rules(HABITS)
        alone.habits = [(habit, advice)]
        assert any(list(style.find_habits("", prose, alone)) for prose in texts), habit.pattern


def test_plain_english_and_code_are_accepted() -> None:
    for text in CLEAN:
        assert found(text) == []
        assert found(f'"""{text}"""\n', "a.py") == []
    assert found("```python\ntold = what(nobody)  # anew\n```\n<!-- anew -->\n") == []
    code = 'what = stands(alone, "anew", f"{alone}: {other.alone!r} {3:{whatever}}")\n'
    assert found(code, "a.py") == []


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("a.py", "x = 1\n# It takes so\n# many steps.\n", [(2, "so many")]),
        ("a.py", '"""First line.\n\n\nIt takes so\nmany steps."""\n', [(4, "so many")]),
        ("a.py", 'x = (\n    "It takes so "\n    f"many steps"\n)\n', [(2, "so many")]),
        ("a.py", "x = f\"the value {'goes on' if x else 'ends'}\"\n", [(1, "goes on")]),
        ("a.py", 'x = ["It takes so", "many steps"]\n', []),
        ("a.toml", "help = 'It takes so many steps.'", [(1, "so many")]),
        ("a.md", "| a | so |\n| many | b |\n", []),
        ("a.py", "def _promised(): ...\n", [(1, "_promised")]),  # metaphors in names
        ("a.py", '"""One\ntwo."""\n\nclass BellState: ...\n', [(4, "BellState")]),
        ("a.py", "x = toldest + compromise + label\n", []),
        ("wfb_gym/promises.py", "", [(1, "promises")]),
    ],
)
def test_habits_are_found_in_comments_docstrings_messages_and_names(
    path: str, text: str, expected: list[tuple[int, str]]
) -> None:
    assert found(text, path) == expected


def test_a_public_name_of_two_modules_is_found() -> None:
    one, two = "wfb_gym/one.py", "tools/two.py"
    code = '"""Text\nof the module."""\n\n\ndef play(): ...\ndef _own(): ...\nclass Play: ...\n'
    texts = {one: code, two: f"# A comment\n{code}", "tests/three.py": code}
    first, second = find_all(texts, Rules(HABITS))
    assert str(first) == f"{one}:5: 'play': use another name than in {two}:6"
    assert str(second) == f"{one}:7: 'Play': use another name than in {two}:8"
    assert find_all({one: code.replace("class Play", "def play")}, Rules(HABITS)) == []


USELESS = "remove it: it allows nothing"
INVALID = "expected a reason, and a path, a text or both"


@pytest.mark.parametrize(
    ("keys", "advice"),
    [
        ({"path": "docs/page.md", "text": "takes so many steps"}, None),
        ({"path": "docs/*.md"}, None),
        ({"path": "tests/*"}, USELESS), ({"text": "so many times"}, USELESS),
        ({"text": "takes"}, USELESS), ({"text": "so many", "reason": ""}, INVALID),
        ({"text": "so many", "x": "y"}, INVALID), ({}, INVALID),
    ],
)  # fmt: skip
def test_exceptions_have_paths_words_and_reasons(keys: dict[str, str], advice: str | None) -> None:
    lines = "".join(f"{key} = {value!r}\n" for key, value in ({"reason": "test"} | keys).items())
    rules = Rules(f"{HABITS}\n[[allow]]\n{lines}")
    left = find_all({"docs/page.md": "It takes so\nmany steps."}, rules)
    assert [None, *(each.advice for each in left)][-1] == advice
    if advice == USELESS:
        line = HABITS.count("\n") + 2
        assert str(left[1]).startswith(f"{RULES}:{line}: ")


@pytest.mark.skipif(PACKAGE.parent != ROOT, reason="the tests run outside the repository")
def test_one_clause_is_all_that_is_found_in_the_repository(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = read_repository() | {"docs/page.md": "Install what you need."}
    monkeypatch.setattr(style, "read_repository", lambda: texts)
    assert style.main([]) == 1
    assert capsys.readouterr().out == "docs/page.md:1: 'what': use a noun instead of a clause\n"
