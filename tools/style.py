"""Check the wording of docs, comments and messages, and the names of the code.

    python -m tools.style

Prints a line `path:line: message` for each finding, and exits with status 1 if there is one.
tools/style.toml lists

- habits of translated English. They are searched in Markdown, HTML, comments, docstrings and
  strings of two words or more, except in questions and in code between backticks;
- words that are metaphors in identifiers and in names of modules;
- exceptions with their reasons. An exception without a finding is reported too.

A public class or function that several modules define is a finding as well.
"""

from wfb_gym._commands import run_main

if __name__ == "__main__":
    run_main("tools.style")

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

from tools.documents import ROOT
from wfb_gym._commands import FAILED
from wfb_gym.cli.parser import parse_options

RULES = "tools/style.toml"
PACKAGES = ("agents", "experiments", "tools", "wfb_gym")
"""Folders in which each public name is defined only once."""
FOLDERS = (*PACKAGES, "docs", "tests")
SUFFIXES = (".html", ".md", ".py", ".toml", ".yaml", "Makefile")
GENERATED = "docs/examples/"

Paragraphs = list[tuple[int, str]]
"""Each paragraph's first line and text."""

_LITERAL = re.compile(
    r"""(?P<comment>\#[^\n]*)
    |(?:\b[bfru]{1,2})?(?P<string>(?P<quotes>\"{3}|'{3})(?:\\.|[^\\])*?(?P=quotes)
    |"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')""",
    re.VERBOSE | re.DOTALL | re.IGNORECASE,
)
_MARKS = re.compile(r"^\w*[\"']+|[\"']+$|^#")
_TWO_WORDS = re.compile(r"\w\W*\s\W*\w")
_FIELD = re.compile(r"\{[^{}\n]*\}")
_CODE = re.compile(r"(`+)[^`]+\1|https?://\S+|\]\([^)]*\)")
_MARKUP = re.compile(
    r"^[ \t]*```.*?^[ \t]*```|<!--.*?-->|<(script|style)\b.*?</\1>|\{[{%#].*?[}%#]\}|</?\w[^<>]*>",
    re.MULTILINE | re.DOTALL,
)
_BREAK = re.compile(r"\n[ \t]*\n|\n[ \t]*(?:[-*]|\d+\.)[ \t]|\\n|^#[^\n]*\n", re.MULTILINE)
_DEFINITION = re.compile(r"^(?:async def|def|class) ([A-Za-z]\w*)", re.MULTILINE)


@dataclass(frozen=True)
class Finding:
    """A habit or a name that was found. `context` is the surrounding text."""

    path: str
    line: int
    found: str
    advice: str
    context: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.found!r}: {self.advice}"

    def is_allowed_by(self, entry: Mapping[str, str]) -> bool:
        """Return whether the path matches, and the text contains the words and is found there."""
        text = entry.get("text", self.found)
        is_there = self.found in text and text in self.context
        return is_there and fnmatch(self.path, entry.get("path", "*"))


class Rules:
    """The contents of style.toml: compiled habits, metaphors, exceptions and their lines."""

    def __init__(self, text: str) -> None:
        data = tomllib.loads(text)
        self.habits = [(_compile(each), advice) for each, advice in data["habits"].items()]
        self.metaphor = re.compile(f"(?:{'|'.join(data['metaphors'])})(?:s|d|ed)?")
        self.allowed: list[dict[str, str]] = data.get("allow", [])
        starts = re.finditer(r"^\[\[allow\]\]", text, re.MULTILINE)
        self.lines = [_line(text, start.start()) for start in starts]


def _compile(habit: str) -> re.Pattern[str]:
    words = habit.replace(" ", r"\s+")
    if habit.startswith("^"):
        return re.compile(rf"(?:^\W*|[.!?:][\"')]*\s+)(?P<hit>{words[1:]})(?!\w)")
    return re.compile(rf"(?<!\w)(?P<hit>{words})(?!\w)", re.IGNORECASE)


def _line(text: str, offset: int) -> int:
    return text.count("\n", 0, offset) + 1


def _hide(pattern: re.Pattern[str], text: str, sign: str) -> str:
    """Replace the matched characters except line breaks, so that lines stay the same."""
    return pattern.sub(lambda found: "\n".join(sign * len(x) for x in found[0].split("\n")), text)


def _hide_field(found: re.Match[str]) -> str:
    """Replace an f-string field except for the strings in it."""
    return re.sub(r"('[^']*'|\"[^\"]*\")|.", lambda part: part[1] or "_", found[0])


def _split_code(text: str) -> tuple[list[tuple[int, str]], str]:
    """Return the comments and strings with their offsets, and the code without them."""
    literals: list[tuple[int, str]] = []
    code, end, last = "", 0, ""
    for found in _LITERAL.finditer(text):
        literal, gap, kind = found[0], text[end : found.start()], str(found.lastgroup)
        code += gap + " " + "\n" * literal.count("\n")
        end = found.end()
        if kind != "comment" and not _TWO_WORDS.search(literal):
            kind = ""
        else:
            literal = _hide(_MARKS, literal, " ")
            if kind != "comment":
                literal = _FIELD.sub(_hide_field, _FIELD.sub(_hide_field, literal))
            if kind == last and gap.isspace():  # the same comment on another line, or string
                start, before = literals.pop()
                literals.append((start, before + gap + literal))
            else:
                literals.append((found.start(), literal))
        last = kind
    return literals, code + text[end:]


def split_text(path: str, text: str) -> tuple[Paragraphs, str]:
    """Return the paragraphs of prose, with "_" in place of code, and the code."""
    if path.endswith((".md", ".html")):
        blocks, code = [(0, _hide(_MARKUP, text, "|"))], ""
    else:
        blocks, code = _split_code(text)
    prose = []
    for offset, block in blocks:
        shown, first = _hide(_BREAK, _hide(_CODE, block, "_"), "|"), _line(text, offset)
        for paragraph in re.finditer(r"\w[^|]*", shown):
            prose.append((first + shown.count("\n", 0, paragraph.start()), paragraph[0]))
    return prose, code


def find_habits(path: str, prose: Paragraphs, rules: Rules) -> Iterator[Finding]:
    """Find the habits in a file's prose."""
    for first, paragraph in prose:
        for habit, advice in rules.habits:
            for hit in habit.finditer(paragraph):
                if not re.match(r"[^.!?]*\?", paragraph[hit.end() :]):
                    line = first + paragraph.count("\n", 0, hit.start("hit"))
                    words, context = " ".join(hit["hit"].split()), " ".join(paragraph.split())
                    yield Finding(path, line, words, advice, context)


def find_metaphors(path: str, code: str, rules: Rules) -> Iterator[Finding]:
    """Find the metaphors in a module's name and identifiers."""
    places = {Path(path).stem: 0}
    for identifier in re.finditer(r"[A-Za-z_]\w*", code):
        places.setdefault(identifier[0], identifier.start())
    for name, offset in places.items():
        words = re.findall(r"[A-Z]?[a-z]+|[A-Z]+", name)
        if any(rules.metaphor.fullmatch(word.lower()) for word in words):
            yield Finding(path, _line(code, offset), name, "use a term of the game or field", name)


def find_repeated(code: Mapping[str, str]) -> Iterator[Finding]:
    """Find the public classes and functions that an earlier module defines too."""
    places: dict[str, str] = {}
    for path in sorted(path for path in code if path.split("/")[0] in PACKAGES):
        for found in _DEFINITION.finditer(code[path]):
            name, line = found[1], _line(code[path], found.start())
            first = places.setdefault(name, f"{path}:{line}")
            if not first.startswith(f"{path}:"):
                yield Finding(path, line, name, f"use another name than in {first}", name)


def find_all(texts: Mapping[str, str], rules: Rules) -> list[Finding]:
    """Return findings by path that style.toml does not allow, and style.toml's own faults."""
    split = {path: split_text(path, text) for path, text in texts.items()}
    found = list(find_repeated({path: code for path, (_, code) in split.items()}))
    for path, (prose, code) in split.items():
        found += [*find_habits(path, prose, rules), *find_metaphors(path, code, rules)]
    left = [one for one in found if not any(map(one.is_allowed_by, rules.allowed))]
    for line, entry in zip(rules.lines, rules.allowed, strict=True):
        advice = ""
        if not (entry.get("reason") and {"reason"} < set(entry) <= {"path", "text", "reason"}):
            advice = "expected a reason, and a path, a text or both"
        elif not any(one.is_allowed_by(entry) for one in found):
            advice = "remove it: it allows nothing"
        if advice:
            name = entry.get("text") or entry.get("path", "")
            left.append(Finding(RULES, line, name, advice, name))
    return left


def read_repository() -> dict[str, str]:
    """Return the checked files' contents, by path relative to the repository."""
    paths = [*ROOT.glob("*"), *(path for name in FOLDERS for path in (ROOT / name).rglob("*"))]
    names = {path.relative_to(ROOT).as_posix(): path for path in sorted(paths)}
    return {
        name: path.read_text(encoding="utf-8")
        for name, path in names.items()
        if name.endswith(SUFFIXES) and not name.startswith(GENERATED)
    }


@dataclass(frozen=True)
class _Options:
    """Command-line options."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Check the repository; return the exit status."""
    parse_options(_Options, arguments, module="tools.style", description=__doc__)
    texts = read_repository()
    found = find_all(texts, Rules(texts[RULES]))
    print(*found, sep="\n", end="\n" if found else "")
    return FAILED if found else 0
