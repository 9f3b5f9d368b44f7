"""Write docs/gallery.md, a page with every bundled scenario, and the pictures on it.

    python -m tools.gallery           rewrite the page and the pictures
    python -m tools.gallery --check   only list the files that are not current

A scenario with a battlefield has the picture of `python -m wfb_gym draw`. Other scenarios have a
card of both armies at the start. Results come from tools/scenario_results.py, and sizes of the
spaces from the environments.
"""

from wfb_gym._commands import run_main

if __name__ == "__main__":
    run_main("tools.gallery")

import sys
from collections.abc import Sequence
from pathlib import Path

import gymnasium as gym

from experiments.common import FAILED
from tools.documents import IMAGES, ROOT, CheckOptions, update_files
from tools.pages import make_unwrapped
from tools.scenario_results import (
    MissingResultsError,
    ScenarioResult,
    scenario_groups,
    scenario_results,
)
from wfb_gym.cli.parser import parse_options
from wfb_gym.engine.nodes import BEFORE_BATTLE
from wfb_gym.render.armies import column_height, draw_armies
from wfb_gym.render.battlefield import draw_battlefield
from wfb_gym.render.drawing import to_svg
from wfb_gym.render.shapes import Drawing, Extent
from wfb_gym.render.sketch import Sketch
from wfb_gym.scenario import Scenario, load_scenario
from wfb_gym.transcripts import NarratedBattle
from wfb_gym.view.position import view_position

PAGE = ROOT / "docs" / "gallery.md"
FOLDER = IMAGES / "gallery"
INTRODUCTION = """\
<!-- Written by `python -m tools.gallery` from the scenarios and docs/results. -->

# Scenario gallery

This page shows the {count} bundled scenarios. The value of a scenario is the expected points of its
first army, the caster, if both sides play optimally. [The exact optimum](solver.md) explains the
solver.

The best score is the best one of the policies on the [leaderboard](leaderboard.md) and in the
[experiments](experiments.md), without the solver itself. It is the mean of both seats. In a solved
scenario, 100 is optimal play and 0 is random play. In a battle, the score is the mean points
against greedy, veteran and phase-search:2, per 1,000 points of army, in {fewest} to {most} battles
per seat.

```python
import gymnasium as gym
import wfb_gym
```
"""
GROUPS = {
    "Duels": """\
These scenarios have no battlefield. The cards show both armies at the start: dice, wizards with
their spells and casting values, items, and units.
""",
    "Battles": """\
Two armies meet on a battlefield. Each picture is cropped to the models. A triangle marks each
front, and a cross marks close combat. [The battlefield](battlefield.md) explains the rules.
""",
    "Hidden items": """\
In these scenarios, a player does not see all items of the opponent. The cards show the possible
sets with their probabilities. The solver computes bounds on the value of the equilibrium
([hidden items](hidden-items.md)).
""",
}
WIDTH, LINE, GAP = 390, 24, 8
"""Card width, line height, and the space between the two armies."""


def draw_card(scenario: Scenario) -> Drawing:
    """Draw both armies at the start, one below the other, with the chances of hidden items."""
    start = NarratedBattle(scenario)
    while start.battle.node in BEFORE_BATTLE:  # deals of hidden items
        start.resolve(start.battle.chance_outcomes()[0][0])
    view = view_position(start.names, start.visible, known=(), with_points=False)
    boxes: list[Extent] = []
    top = -GAP
    for army in view.armies:
        height = column_height(army, LINE)
        boxes.append(Extent(GAP, top - height, WIDTH - GAP, top))
        top -= height + GAP
    sketch = Sketch()
    draw_armies(sketch, boxes, view.armies)
    return Drawing(Extent(0, top, WIDTH, 0), tuple(sketch.shapes), scenario.name)


def scenario_section(scenario: Scenario, result: ScenarioResult, group: str) -> str:
    """Return a scenario's section: picture, description, facts and code."""
    name, env_id = scenario.name, f"wfb_gym/{'Battle' if group == 'Battles' else 'Caster'}-v0"
    width = 2 * WIDTH if group == "Battles" else WIDTH
    env = make_unwrapped(gym.spec(env_id), scenario=name)
    places = "public histories" if result.solved == "bounds" else "positions"
    phases = f"{scenario.phases} phase{'' if scenario.phases == 1 else 's'}"
    values = {
        "exact": f"{result.points} points, solved exactly",
        "bounds": f"{result.points} points, between bounds of the solver",
        "no": "not known, too large for the solver",
    }
    value = values[result.solved]
    if result.first_phases is not None:
        count, points = result.first_phases
        first = "phase" if count == 1 else f"{count} phases"
        value += f"; {points:.2f} points for the first {first} only"
    return f"""\
### {name}

<img src="images/gallery/{name}.svg" width="{width}" alt="{name}">

{scenario.description}

- Size: {result.size} {places}, {phases}, {scenario.ruleset} rules.
- Spaces: {env.observation_space.shape[0]} numbers in an observation, {env.action_space.n} actions.
- Value: {value}.
- Best score: {result.best_score if result.best else "not measured"}.

```python
env = gym.make("{env_id}", scenario="{name}")
```
"""


def make_gallery() -> dict[Path, str]:
    """Return the text of the page and every picture, by file."""
    groups, results = scenario_groups(), scenario_results()
    best = [results[name].best for name in groups["Battles"]]
    counts = [each.battles for each in best if each is not None]
    parts = [INTRODUCTION.format(count=len(results), fewest=min(counts), most=max(counts))]
    pictures: dict[Path, str] = {}
    for group, names in groups.items():
        parts.append(f"## {group}\n\n{GROUPS[group]}")
        for name in names:
            scenario = load_scenario(name)
            drawing = draw_battlefield(scenario) if group == "Battles" else draw_card(scenario)
            pictures[FOLDER / f"{name}.svg"] = to_svg(drawing)
            parts.append(scenario_section(scenario, results[name], group))
    return {PAGE: "\n".join(parts), **pictures}


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the page and the pictures, or check them, and return the exit status."""
    options, _ = parse_options(CheckOptions, arguments, module="tools.gallery", description=__doc__)
    try:
        wanted = make_gallery()
    except MissingResultsError as error:
        print(f"gallery: {error}", file=sys.stderr)
        return FAILED
    current = update_files(wanted, FOLDER, "*", check=options.check)
    return 0 if current else FAILED
