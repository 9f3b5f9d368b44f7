"""Write the pages of the environments, docs/environments/NAME.md, and parts of other pages.

    python -m tools.pages           rewrite every page
    python -m tools.pages --check   only list the pages that are not current

The text comes from the docstrings of the environments' classes, section by section; a class's text
follows the text of its base classes. Numbers and tables come from the registered environments.
Other pages are written by hand except for a block between markers: the tables of fields of
docs/environments.md, the rules of the scripted players (the docstrings of their modules), the index
of scenario keys, the bundled scenarios, the options of the command line, and the number of house
rules.
"""

from wfb_gym._commands import run_main

if __name__ == "__main__":
    run_main("tools.pages")

import ast
import inspect
import re
from argparse import Action
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from inspect import Parameter
from pathlib import Path
from typing import Any

import gymnasium as gym
from gymnasium.envs.registration import EnvSpec, load_env_creator

import wfb_gym
from experiments.common import FAILED
from experiments.tables import markdown_table
from tools.documents import ROOT, CheckOptions, update_files
from wfb_gym.cli import COMMANDS
from wfb_gym.cli.parser import Parser, add_options, parse_options
from wfb_gym.cli.scenarios import summarise_scenarios
from wfb_gym.encoding.actions import ActionCodec
from wfb_gym.encoding.fields import (
    ArmyOffsets,
    ChoiceOffsets,
    Field,
    LayoutOffsets,
    ObservedNumber,
    UnitOffsets,
)
from wfb_gym.encoding.layout import KINDS
from wfb_gym.opponents.policy_spec import MODULES
from wfb_gym.scenario.rulesets import bundled_miscast_rows

FOLDER = ROOT / "docs" / "environments"
OVERVIEW = ROOT / "docs" / "environments.md"
README = ROOT / "README.md"
AGENTS = ROOT / "docs" / "agents.md"
SCENARIOS = ROOT / "docs" / "scenarios.md"
BUNDLED = ROOT / "docs" / "scenarios" / "bundled.md"
COMMAND_LINE = ROOT / "docs" / "cli.md"
LIMITS = ROOT / "docs" / "limits.md"
LEDGER = ROOT / "docs" / "rules.md"
SECTIONS = (
    "Description",
    "Action Space",
    "Observation Space",
    "Rewards",
    "Starting State",
    "Episode End",
    "Information",
    "Arguments",
    "Vectorized environment",
    "Version History",
)
"""The sections of every page, in Gymnasium's order."""
OWN_SECTION = "Version History"
"""The section that is not inherited."""
HEAD = """\
<!-- Written by `python -m tools.pages` from the docstrings in wfb_gym/envs. -->

# {spec.name}

{summary}

```python
import gymnasium as gym
import wfb_gym

env = gym.make("{spec.id}", {example})
envs = gym.make_vec("{spec.id}", num_envs=64)
```

| | |
|---|---|
| Action space | `Discrete({env.action_space.n})` |
| Observation space | `Box({env.observation_space.shape}, float32)` |
| Legal actions | `info["action_mask"]`, `env.unwrapped.action_masks()` |
| Render modes | {modes} |
| Single environment | `{entry}` |
| Vector environment | `{vector_entry}` |

These are the spaces of the default scenario, `{scenario}`. [The environments](../environments.md)
describes the features that all ids share, from opponents to saving and restoring.
"""


@dataclass(frozen=True)
class Argument:
    """A row in a docstring's argument table. Its default is a literal, or a word for None."""

    name: str
    default: str
    meaning: str


def split_sections(text: str) -> dict[str, str]:
    """Return a docstring's sections by heading. The text before them has the heading ""."""
    parts = re.split(r"^## (.+)$", inspect.cleandoc(text), flags=re.MULTILINE)
    headings = ["", *parts[1::2]]
    return {head: body.strip() for head, body in zip(headings, parts[::2], strict=True)}


def merge_sections(kind: type) -> dict[str, str]:
    """Merge a class's docstring sections with its base classes' sections, which come first.

    Raises:
        ValueError: if the sections are not exactly `SECTIONS`.
    """
    found: dict[str, str] = {}
    for each in reversed(kind.__mro__):
        text = each.__dict__.get("__doc__")
        if each.__module__.startswith("wfb_gym.") and text:
            for head, body in split_sections(text).items():
                before = found.get(head, "") if head else ""
                found[head] = f"{before}\n\n{body}".strip()
    own = split_sections(kind.__dict__.get("__doc__") or "").get(OWN_SECTION)
    if own is None:
        raise ValueError(f"{kind.__name__}: expected a section {OWN_SECTION!r} of its own")
    found[OWN_SECTION] = own
    if set(found) != {"", *SECTIONS}:
        wrong = sorted({"", *SECTIONS} ^ set(found))
        raise ValueError(f"{kind.__name__}: expected the sections {SECTIONS}; see {wrong}")
    return found


def parse_argument_rows(text: str) -> list[Argument]:
    """Return the rows of argument tables. A later row replaces any earlier one of its name."""
    rows = re.findall(r"^\| `(\w+)` \| (.+?) \| (.+) \|$", text, re.MULTILINE)
    found = (Argument(name, default, " ".join(words.split())) for name, default, words in rows)
    return list({one.name: one for one in found}.values())


def keyword_defaults(kind: type) -> dict[str, Any]:
    """Return all keyword arguments of a class with their defaults, including inherited ones."""
    found: dict[str, Any] = {}
    for each in kind.__mro__:
        if "__init__" not in each.__dict__:
            continue
        parameters = list(inspect.signature(each.__dict__["__init__"]).parameters.values())[1:]
        for one in parameters:
            if one.kind is not Parameter.VAR_KEYWORD:
                found.setdefault(one.name, one.default)
        if not any(one.kind is Parameter.VAR_KEYWORD for one in parameters):
            break
    return found


def check_arguments(kind: type, documented: Sequence[Argument]) -> None:
    """Raise a ValueError if documented arguments or defaults do not match the signature."""
    wanted = keyword_defaults(kind)
    names = {one.name for one in documented}
    if names != set(wanted):
        raise ValueError(f"{kind.__name__}: expected arguments {sorted(wanted)}, found {names}")
    for one in documented:
        try:
            default = ast.literal_eval(one.default)
        except (ValueError, SyntaxError):
            default = None  # a word means None
        if default != wanted[one.name]:
            raise ValueError(
                f"{kind.__name__}.{one.name}: expected {wanted[one.name]!r}, found {one.default}"
            )


def action_table(codec: ActionCodec, meanings: Sequence[str]) -> str:
    """Return a table of the actions by index."""
    ranges = [name for name, (_, size) in codec.ranges.items() for _ in range(size)]
    rows = [[str(i), meaning, ranges[i]] for i, meaning in enumerate(meanings)]
    return markdown_table([["Num", "Action", "Range"], *rows])


def unit_of(field: Field) -> str:
    """Return a field's meaning, and whether it is 0 with raw features."""
    return field.meaning + ("; raw: 0" if field.is_expectation else "")


def field_table(fields: Sequence[Any]) -> str:
    """Return a table of an observation's fields (`encoding.fields.Field`) and their bounds."""
    rows = [
        [str(i), f"`{one.name}`", f"{one.low:g}", f"{one.high:g}", unit_of(one)]
        for i, one in enumerate(fields)
    ]
    return markdown_table([["Num", "Observation", "Min", "Max", "Unit"], *rows])


PRESENT = {
    "spells_lie_on_targets": "`targets` and `in_play`",
    "comets_at_points": "`comet_points` of either army",
}
"""Limits that a number depends on, if the arguments have no name for them."""
BLOCKS: dict[str, list[tuple[str, type]]] = {
    "position": [("", LayoutOffsets)],
    "armies": [
        *((f"{kind} N ", record) for kind, record in KINDS.items()),
        ("", ArmyOffsets),
        ("own spell N ", ChoiceOffsets),
    ],
}
"""The tables of an observation's fields, with a prefix for numbered records."""


def overview_table(block: str) -> str:
    """Return a table of the fields in all observations, with the limits that each depends on."""
    rows = [["field", "low", "high", "unit", "present"]]
    for owner, record in BLOCKS[block]:
        for attribute, declared in vars(record).items():
            if isinstance(declared, ObservedNumber):
                needed = PRESENT.get(declared.when) or " or ".join(
                    f"`{switch}`" for switch in declared.when.split()
                )
                if record is UnitOffsets and not needed:
                    needed = "N ≤ `units`"
                elif isinstance(declared.each, str) and not needed:
                    needed = f"N ≤ `{declared.each}`"
                rows += [
                    [f"`{owner}{one.name}`", f"{one.low:g}", f"{one.high:g}", unit_of(one), needed]
                    for one in declared.documented(attribute)
                ]
    return markdown_table(rows)


def replace_block(text: str, block: str, content: str) -> str:
    """Return a page with new content between ``<!-- KIND:NAME -->`` and ``<!-- /KIND -->``."""
    kind = block.partition(":")[0]
    marked = re.compile(rf"(<!-- {block} -->\n).*?(<!-- /{kind} -->)", re.DOTALL)
    if len(marked.findall(text)) != 1:
        raise ValueError(f"expected <!-- {block} --> and <!-- /{kind} --> once")
    return marked.sub(lambda found: f"{found[1]}\n{content}\n\n{found[2]}", text)


def make_overview() -> str:
    """Return the overview with tables of the current observation fields."""
    text = OVERVIEW.read_text(encoding="utf-8")
    for block in BLOCKS:
        text = replace_block(text, f"fields:{block}", overview_table(block))
    return text


def player_rules() -> str:
    """Return the docstrings of the scripted players' modules."""
    return "\n\n".join(
        f"**{name}.** {inspect.getdoc(import_module(module))}" for name, module in MODULES.items()
    )


def find_keys(text: str) -> list[tuple[str, str]]:
    """Return the keys in a page's tables, with the heading above each table."""
    found, heading, in_table = [], "", False
    for line in re.sub(r"```.*?```", "", text, flags=re.DOTALL).splitlines():
        if line.startswith("#"):
            heading = line.lstrip("# ")
        in_table = line.startswith("| key | type |") or (in_table and line.startswith("|"))
        key = re.match(r"\| `(\w+)` \|", line)
        if in_table and key:
            found.append((key[1], heading))
    return found


def key_index() -> str:
    """Return a table of all keys in scenario files, with links to their tables."""
    places: dict[str, list[str]] = {}
    for path in (SCENARIOS, *sorted(SCENARIOS.with_suffix("").glob("*.md"))):
        page = "" if path == SCENARIOS else f"scenarios/{path.name}"
        for key, heading in find_keys(path.read_text(encoding="utf-8")):
            anchor = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
            places.setdefault(key, []).append(f"[{heading}]({page}#{anchor})")
    rows = [[f"`{key}`", ", ".join(links)] for key, links in sorted(places.items())]
    return markdown_table([["key", "in"], *rows])


def bundled_table() -> str:
    """Return a table of the bundled scenarios."""
    rows = [["name", "edition", "phases", "wizards", "spells", "description"]]
    for each in summarise_scenarios():
        counts = ["/".join(map(str, each[key].values())) for key in ("wizards", "spells")]
        phases = str(each["phases"])
        rows.append([f"`{each['name']}`", each["ruleset"], phases, *counts, each["description"]])
    return markdown_table(rows)


def command_sections() -> str:
    """Return a section with a table of options for each of the package's commands."""
    parts = []
    for command in COMMANDS.values():
        parser = Parser(add_help=False)
        add_options(parser, command.options)
        rows = [["option", "meaning"]]
        for action in parser._actions:  # noqa: SLF001 - argparse has no public list of options
            names = action.option_strings or [action.dest]
            shown = ", ".join(f"`{name}{_value_of(action)}`" for name in names)
            rows.append([shown, action.help or ""])
        parts.append(f"## {command.name}\n\n{command.help[0].upper()}{command.help[1:]}.")
        parts.append(markdown_table(rows))
        if command.epilog:
            parts.append(f"```text\n{command.epilog.strip()}\n```")
    return "\n\n".join(parts)


def _value_of(action: Action) -> str:
    """Return an option's value as shown in its usage, after a space."""
    if action.nargs == 0 or not action.option_strings:
        return ""
    if action.choices:
        return f" {{{','.join(map(str, action.choices))}}}"
    if isinstance(action.metavar, tuple):
        return f" {' '.join(action.metavar)} ..."
    return f" {action.metavar or action.dest.upper()}"


def house_rule_counts() -> str:
    """Return a sentence with the numbers of house rules in the ledger and in the miscast tables."""
    ledger = re.findall(r"^\| C\.\d+ \|", LEDGER.read_text(encoding="utf-8"), re.MULTILINE)
    rows = bundled_miscast_rows()
    ours = sum(row.source == "ours" for row in rows)
    return (
        f"The ledger lists {len(ledger)} house rules. In the bundled miscast tables, {ours} of "
        f"{len(rows)} rows are house rules."
    )


WRITTEN: dict[Path, dict[str, Callable[[], str]]] = {
    AGENTS: {"players": player_rules},
    SCENARIOS: {"keys": key_index},
    BUNDLED: {"bundled": bundled_table},
    COMMAND_LINE: {"commands": command_sections},
    LIMITS: {"house-rules": house_rule_counts},
    README: {"house-rules": house_rule_counts},
}
"""The generated blocks in pages that are otherwise written by hand."""


def make_blocks(path: Path) -> str:
    """Return a page with up-to-date blocks."""
    text = path.read_text(encoding="utf-8")
    for block, content in WRITTEN[path].items():
        text = replace_block(text, block, content())
    return text


def size_table(spec: EnvSpec) -> str:
    """Return a table of the sizes of both spaces in every bundled scenario."""
    rows = [["scenario", "phases", "actions", "observation"]]
    for name in wfb_gym.bundled_scenarios():
        env = make_unwrapped(spec, scenario=name)
        phases, size = env.batch.scenarios[0].phases, env.observation_space.shape[0]
        rows.append([f"`{name}`", str(phases), str(env.action_space.n), str(size)])
    return markdown_table(rows)


def make_unwrapped(spec: EnvSpec, **keys: Any) -> Any:
    """Make an id's environment without Gymnasium's wrappers."""
    return gym.make(spec, disable_env_checker=True, **keys).unwrapped


def newest_specs() -> dict[str, EnvSpec]:
    """Return the newest version of each of the package's ids, by page name."""
    own = [spec for spec in gym.registry.values() if spec.namespace == "wfb_gym"]
    own.sort(key=lambda spec: spec.version or 0)
    return dict(sorted({spec.name.lower(): spec for spec in own}.items()))


def make_environment_page(spec: EnvSpec) -> str:
    """Return an id's page, or raise a ValueError if its docstring lacks the version."""
    kind: Any = load_env_creator(str(spec.entry_point))
    texts = merge_sections(kind)
    if f"* v{spec.version}:" not in texts[OWN_SECTION]:
        raise ValueError(f"{kind.__name__}: expected v{spec.version} in its {OWN_SECTION}")
    options = parse_argument_rows(texts["Arguments"])
    check_arguments(kind, options)
    defaults = keyword_defaults(kind)
    env = make_unwrapped(spec)
    vector = type(gym.make_vec(spec, num_envs=1).unwrapped)
    scenario = defaults["scenario"]
    modes = ", ".join(f"`{mode}`" for mode in env.metadata["render_modes"])
    summary = texts[""].split("\n\n")[-1].partition(";")[0].rstrip(".")
    parts = [
        HEAD.format(
            spec=spec,
            env=env,
            summary=f"`{spec.id}`: {summary[0].lower()}{summary[1:]}.",
            example=", ".join(f'{key}="{defaults[key]}"' for key in ("scenario", "opponent")),
            modes=modes or "none",
            entry=str(spec.entry_point).replace(":", "."),
            vector_entry=f"{vector.__module__}.{vector.__qualname__}",
            scenario=scenario,
        )
    ]
    shown = f"In `{scenario}`:\n\n"
    title = "Sizes of both spaces in every bundled scenario without hidden items:"
    sizes = f"### Sizes\n\n{title}\n\n{size_table(spec)}"
    rows = [["Parameter", "Default", "Description"]]
    for one in options:
        word = re.fullmatch(r"[a-z]+", one.default)
        rows.append([f"`{one.name}`", one.default if word else f"`{one.default}`", one.meaning])
    texts["Arguments"] = markdown_table(rows)
    actions = action_table(env.batch.codec, env.action_meanings())
    texts["Action Space"] += f"\n\n### Action table\n\n{shown}{actions}"
    fields = f"### Observation table\n\n{shown}{field_table(env.batch.layout.fields)}"
    texts["Observation Space"] += f"\n\n{fields}\n\n{sizes}"
    parts += [f"## {head}\n\n{texts[head]}\n" for head in SECTIONS]
    return "\n".join(parts)


def make_pages() -> dict[Path, str]:
    """Return the text of every page, by file."""
    pages = {
        FOLDER / f"{name}.md": make_environment_page(spec) for name, spec in newest_specs().items()
    }
    return {OVERVIEW: make_overview(), **{path: make_blocks(path) for path in WRITTEN}, **pages}


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the pages, or check them, and return the exit status."""
    options, _ = parse_options(CheckOptions, arguments, module="tools.pages", description=__doc__)
    current = update_files(make_pages(), FOLDER, "*.md", check=options.check)
    return 0 if current else FAILED
