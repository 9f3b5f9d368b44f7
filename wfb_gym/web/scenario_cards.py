"""The bundled scenarios as cards: kind, phases, wizards, and a small drawing."""

from functools import cache
from typing import NamedTuple

from wfb_gym.render.html import render_macro
from wfb_gym.render.thumbnail import draw_thumbnail
from wfb_gym.scenario import Scenario, bundled_scenarios, hidden_scenarios, load_scenario
from wfb_gym.view.names import plural


class ScenarioCard(NamedTuple):
    """A bundled scenario on the start page."""

    name: str
    html: str  # the content of its card
    words: str  # the text of its card in lower case, for searching


@cache
def scenario_cards() -> dict[str, list[ScenarioCard]]:
    """Return the cards of all bundled scenarios by group; the first call takes about a second."""
    groups: dict[str, list[ScenarioCard]] = {
        "Duels of wizards": [],
        "Battles on a battlefield": [],
        "Hidden items": [],
    }
    for name in (*bundled_scenarios(), *hidden_scenarios()):
        scenario = load_scenario(name)
        group = "Battles on a battlefield" if scenario.battlefield else "Duels of wizards"
        groups["Hidden items" if scenario.has_hidden_items else group].append(_card(name, scenario))
    return groups


def _card(name: str, scenario: Scenario) -> ScenarioCard:
    facts = [plural(scenario.phases, "phase"), _wizards(scenario)]
    if scenario.battlefield is not None:
        units = [str(len(army.units)) for army in scenario.armies]
        facts.append(f"{' against '.join(units)} units")
    if scenario.ruleset == "7e":
        facts.append("7th edition")
    levels = [sum(wizard.level for wizard in army.wizards) for army in scenario.armies]
    drawing = draw_thumbnail(scenario) if scenario.battlefield is not None else ""
    description = scenario.description or ""
    html = render_macro(
        "scenario_card", name, description, facts, drawing, levels, template="web.html"
    )
    return ScenarioCard(name, html, " ".join([name, description, *facts]).lower())


def _wizards(scenario: Scenario) -> str:
    first, second = (len(army.wizards) for army in scenario.armies)
    if not second:
        return plural(first, "wizard")
    return f"{first} against {plural(second, 'wizard')}"
