"""A decision's choices in the terminal: descriptions, odds, values, and parsing of answers.

Descriptions come from `wfb_gym.view` and values from `wfb_gym.players.analysis`.
"""

from collections.abc import Mapping
from functools import cached_property

from wfb_gym.cli.output import align_columns, format_exact_points
from wfb_gym.engine import actions
from wfb_gym.engine.battle import Battle
from wfb_gym.players.analysis import Analysis, Analyst
from wfb_gym.scenario import Scenario
from wfb_gym.suggestions import one_of
from wfb_gym.view.choices import find_choices, short_choice_names, view_decision
from wfb_gym.view.decisions import describe_choices
from wfb_gym.view.hidden_sets import redact, sets_that_may_be
from wfb_gym.view.names import ScenarioNames
from wfb_gym.view.odds import cast_odds_rows

NOT_ROLLED = "-"  # placeholder for a chance if no dice are thrown
ESTIMATED = "~"  # prefix that marks an estimated value
_MOST_NAMED = 3


class ChoiceList:
    """The choices at the decisions in one scenario."""

    def __init__(self, scenario: Scenario) -> None:
        self._scenario = scenario
        self._names = ScenarioNames(scenario)

    @cached_property
    def _analyst(self) -> Analyst:
        return Analyst(self._scenario)

    def lines(self, battle: Battle) -> list[str]:
        """Return a line for each legal action: its number, counted from 1, and its description."""
        decision = view_decision(self._names, battle)
        rows = [
            (f"{number:>3}", each.text, decision.notes[action])
            for number, (action, each) in enumerate(decision.actions.items(), 1)
        ]
        return align_columns(rows, "><<")

    def odds(self, battle: Battle) -> list[str]:
        """Return the lines with the chance of the dice and the value added, and a legend.

        A table of the castable spells' chances by number of dice follows. Values are the mover's
        expected points for the rest of the battle, assuming optimal play by both sides.
        """
        analysis, decision = self._analyse(battle), view_decision(self._names, battle)
        mark = "" if analysis.is_exact else ESTIMATED
        differ = any(analysis.loss(action) >= 1e-9 for action in analysis.values)
        rows = [("", "", "CHANCE", "EXPECTED POINTS", _heading_of_notes(decision.notes))]
        for number, (action, each) in enumerate(decision.actions.items(), 1):
            chance = NOT_ROLLED if each.chance is None else f"{float(each.chance):.1%}"
            value = mark + format_exact_points(analysis.values[action])
            value += " best" if differ and analysis.loss(action) < 1e-9 else ""
            rows.append((f"{number:>3}", each.text, chance, value, decision.notes[action]))
        legend = []
        if any(row[2] == NOT_ROLLED for row in rows):
            legend.append(f"     {NOT_ROLLED}  this choice throws no dice itself")
        if not differ and len(analysis.values) > 1:
            legend.append(
                "     all choices are worth the same if the enemy answers in the best way"
            )
        if mark:
            legend.append(
                f"     {mark}  an estimate, not an exact value; method: {analysis.method}"
            )
        return align_columns(rows, "><><<") + legend + self._casts(battle)

    def _analyse(self, battle: Battle) -> Analysis:
        """Return the value of every choice, given the mover's information."""
        if not self._scenario.has_hidden_items:
            return self._analyst.analyse(battle)
        enemy = 1 - battle.mover
        sets = sets_that_may_be(self._names, battle, enemy)
        analysis = self._analyst.analyse(redact(battle, (battle.mover,)))
        likeliest = max(sets, key=lambda each: each.chance).words if sets else "its known items"
        method = f"as if {self._names.armies[enemy]} had {likeliest}, and knew your items"
        return analysis._replace(is_exact=False, method=method)

    def _casts(self, battle: Battle) -> list[str]:
        """Return a table of castable spells' chances by number of dice, or [] if none."""
        rows = cast_odds_rows(self._names, battle)
        return ["", *align_columns(rows, "<" + ">" * (len(rows[0]) - 1))] if rows else []

    def find(self, battle: Battle, answer: str) -> int | str:
        """Return the action that an answer refers to, or a description of the expected answers.

        An answer matches a choice if any part of the choice's text that starts at a word begins
        with it, such as "fireball", "3 dice" or "scroll". Spaces and punctuation are ignored.
        "pass" means doing nothing.
        """
        descriptions = describe_choices(self._names, battle)
        texts = {action: each.text for action, each in descriptions.items()}
        names = short_choice_names(self._names, battle, texts)
        meant = find_choices(texts, names, answer)
        if len(meant) == 1:
            return meant[0]
        if meant:  # show the full texts, because two wizards may know the same spell
            listed = " or ".join(texts[action] for action in meant[:_MOST_NAMED])
            return f"one choice (did you mean {listed}?)"
        return one_of(names.values(), answer, "a choice")


def _heading_of_notes(notes: Mapping[int, str]) -> str:
    """Return the heading of the column of notes, which describe spells or items."""
    items = range(actions.FIRST_ITEM, actions.FIRST_REROLL)
    noted = [action for action, note in notes.items() if note]
    if not noted:
        return ""
    return "EFFECT" if any(action in items for action in noted) else "IF CAST"
