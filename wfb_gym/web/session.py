"""The logic of a web game, without NiceGUI: setup, play, advice, odds and review.

A session belongs to one browser. Its methods may be called from any thread, but only one at a time.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import import_module
from threading import Lock
from typing import NamedTuple

from wfb_gym.advising.advice import complete_play
from wfb_gym.advising.lists import scenario_of_lists
from wfb_gym.advising.request import PositionRequest
from wfb_gym.engine.actions import FIRST_TARGET
from wfb_gym.engine.battle import Battle
from wfb_gym.engine.state import Node
from wfb_gym.opponents.policy_spec import MODULES, NAMES, SEARCHING, SHIPPED, PolicySpec
from wfb_gym.packing.records import FIRST_POINT
from wfb_gym.players.analysis import Analyst
from wfb_gym.render.battlefield import draw_battlefield, standing_pieces
from wfb_gym.render.drawing import to_svg
from wfb_gym.render.html import event_html, exact_points, render_macro
from wfb_gym.scenario import Problem, Scenario, ScenarioError, load_scenario, scenario_from_dict
from wfb_gym.scenario.document_limits import MAX_BYTES
from wfb_gym.scenario.documents import parse_toml
from wfb_gym.scenario.sizes import TARGETS
from wfb_gym.solver import TooLarge
from wfb_gym.solver.graph_arrays import TIE
from wfb_gym.transcripts.game import Game, Steps
from wfb_gym.transcripts.mixtures import Mixer
from wfb_gym.transcripts.position_ids import position_from_id
from wfb_gym.transcripts.review import Progress, Review, review
from wfb_gym.transcripts.transcript import Transcript
from wfb_gym.view.choices import ChoiceDetails, choice_details, question
from wfb_gym.view.decisions import ActionView, describe_action
from wfb_gym.view.events import Event, redact_events
from wfb_gym.view.hidden_sets import ALL_ARMIES, HiddenSet, armies_known, sets_that_may_be
from wfb_gym.view.names import ScenarioNames, capital, plural
from wfb_gym.view.odds import cast_odds, dispel_odds, points_at_stake
from wfb_gym.view.position import PositionView
from wfb_gym.view.spell_text import spell_sentence

MOST_WIZARDS = 6  # maximum number of wizards in lists entered on the page
BY_STRENGTH = ("random", "veteran", "greedy", "phase-search", "search", "optimal")
"""Opponents from weak to strong; the strength of the others depends more on the scenario."""
OPPONENTS = tuple(dict.fromkeys((*BY_STRENGTH, *NAMES, *SHIPPED)))
"""Opponents to choose from; a number may follow the name of a scripted or search opponent."""
_SUMMARIES = {
    "random": "Chooses uniformly at random among the legal actions.",
    "optimal": "Plays optimally in a scenario that can be solved.",
}
"""Summaries of the scripted players without a module."""
_MOST_RECENT = 5  # maximum number of events shown above the decision
_OWN = "your scenario"
_TOO_LARGE = "No advice yet: this battle has too many continuations to compute an equilibrium."
_NOT_WEIGHED = (
    " Earlier choices are ignored because the whole battle is too large to solve: only the deal "
    "and the items shown so far count."
)


@dataclass(frozen=True)
class Setup:
    """The settings of a game."""

    scenario: str | None = "archmage-duel"  # name of a bundled scenario, or None
    text: str | None = None  # text of a scenario file, used if `scenario` is None
    # army lists entered on the page, used if `scenario` and `text` are None
    lists: PositionRequest = field(default_factory=PositionRequest)
    position: str | None = None  # id of a position to start from, which names its scenario, or None
    seat: int = 0  # the person's seat, 0 or 1
    opponent: str = "veteran"  # one of `OPPONENTS`, optionally with a number, such as "mcts:50"
    seed: int | None = None  # seed for the dice, or None for a random seed


def scenario_of(setup: Setup) -> Scenario:
    """Return the scenario for a setup.

    Raises:
        ScenarioError: if the scenario is invalid.
        ValueError: if the lists or the id of the position are invalid.
    """
    if setup.position is not None:
        return position_from_id(setup.position).scenario
    if setup.scenario is not None:
        return load_scenario(setup.scenario)
    if setup.text is not None:
        return scenario_from_text(setup.text)
    return scenario_of_lists(setup.lists)


def scenario_from_text(text: str) -> Scenario:
    """Read and check the text of a scenario file.

    Raises:
        ScenarioError: if the text is too long, not TOML, or not a valid scenario.
    """
    if not text.strip():
        raise ScenarioError(_OWN, [Problem("", "the text of a scenario file", "nothing")])
    size = len(text.encode(errors="replace"))
    if size > MAX_BYTES:
        raise ScenarioError(_OWN, [Problem("", f"at most {MAX_BYTES:,} bytes", f"{size:,} bytes")])
    return scenario_from_dict(parse_toml(text.removeprefix("\ufeff"), _OWN), _OWN)


def check_opponent(name: str) -> None:
    """Check that an opponent is in the registry of players, as the web UI opens no files.

    Raises:
        ValueError: if the name is unknown or is a file path.
    """
    spec = PolicySpec.find(name, "opponent")
    if spec is None or spec.is_file:
        raise ValueError(f"opponent: expected one of {', '.join(OPPONENTS)}, found {name!r}")


def describe_scenario(scenario: Scenario) -> str:
    """Return a bundled scenario's description, and a sentence on the kind of game.

    Bundled scenarios without a battlefield can be solved, those with one are too large.
    """
    phases = plural(scenario.phases, "phase")
    if scenario.battlefield is None:
        kind = f"A duel of {phases} without a battlefield"
    else:
        kind = f"A battle of {phases} between units on a battlefield"
    if scenario.has_hidden_items:
        size = "some items are hidden"
    elif scenario.battlefield is None:
        size = "small enough for perfect play (opponent optimal)"
    else:
        size = "too large to solve, so advice is estimated"
    return " ".join(filter(None, (scenario.description, f"{kind}; {size}.")))


def describe_seat(seat: int, scenario: Scenario | None) -> str:
    """Return the task of a seat, with its army if the scenario is known."""
    words = (
        "You throw power dice to cast spells, and the enemy tries to dispel them.",
        "The enemy casts spells, and you throw dispel dice to stop them.",
    )[seat]
    if scenario is not None and scenario.phases > 1:
        words += " The armies change roles after each phase."
    if scenario is not None and scenario.armies[seat].name is not None:
        words = f"You lead {scenario.armies[seat].name}. {words}"
    return words


def describe_opponent(text: str) -> str:
    """Return a sentence about an opponent, and its strength; "" if it is unknown."""
    try:
        spec = PolicySpec.find(text)
    except ValueError:
        return ""
    if spec is None or spec.is_file:
        return ""
    if spec.path is not None:
        trained_on, _, seat = spec.name.partition("/")
        words = f"A network for {f'the {seat} in {trained_on}' if seat else 'all scenarios'}."
    elif spec.name in _SUMMARIES:
        words = _SUMMARIES[spec.name]
    else:  # the first line of the player's documentation
        documented = import_module(MODULES[spec.name]) if spec.is_scripted else spec.make()
        words = (documented.__doc__ or "").partition("\n")[0]
    if spec.name in BY_STRENGTH:
        most = len(BY_STRENGTH)
        place = BY_STRENGTH.index(spec.name) + 1
        words += f" Strength: {place} of {most} ({most} is the strongest)."
    if spec.name in SEARCHING:
        words += f" {spec.name}:4 sets the number of {SEARCHING[spec.name]} to 4."
    return words


class ShownAdvice(NamedTuple):
    """Advice as the page shows it: a mark for each choice, the best choice, and an explanation."""

    marks: dict[int, str]  # text on each choice, by engine code
    best: int | None  # engine code of the best choice, or None if there is none
    words: str  # explanation of the marks
    # number of dice to throw after the best choice; None if the choice itself includes them, or if
    # it leads to no roll
    dice: int | None = None


class Evaluation(NamedTuple):
    """The points still to come for the person, if both sides play their best."""

    points: float
    is_exact: bool


class Session:
    """A game in one browser.

    Args:
        scenario: the scenario to play.
        setup: the settings; the scenario's are not read again.
        steps: the steps of an earlier session with the same settings and seed, which is continued.

    Attributes:
        setup: the settings, with the seed.
        on_change: called with the session after every choice and undo, in the same thread.

    Raises:
        ValueError: if the opponent is unknown or cannot play the scenario, if the position's id is
            invalid, or if the steps do not follow from the settings.
        ImportError: if the opponent needs an extra that is not installed.
    """

    def __init__(self, scenario: Scenario, setup: Setup, steps: Steps | None = None) -> None:
        check_opponent(setup.opponent)
        start = None if setup.position is None else position_from_id(setup.position)
        self.game = Game(scenario, setup.seat, setup.opponent, setup.seed, start=start)
        self.setup = replace(setup, seed=self.game.seed)
        self.on_change: Callable[[Session], object] = lambda _: None
        if steps is not None:
            self.game.resume(steps)
        self.scenario = scenario
        self.analyst = Analyst(scenario)
        self._map = b"", ""  # the last drawing without a spell, and its position
        self._solving = Lock()  # held while `analyst` or `_mixer` is in use
        self._play_on()

    @cached_property
    def _mixer(self) -> Mixer:
        return Mixer(self.scenario)

    @property
    def names(self) -> ScenarioNames:
        """Display names used in the scenario."""
        return self.game.narrated.names

    @property
    def is_over(self) -> bool:
        """Whether the battle has ended."""
        return self.game.battle.is_over

    @property
    def is_from_start(self) -> bool:
        """Whether the game started at the start of the battle, so that it has a transcript."""
        return self.game.start is None

    @property
    def can_undo(self) -> bool:
        """Whether a decision can be undone: not once the end has revealed hidden items."""
        is_revealed = self.is_over and self.scenario.has_hidden_items
        return bool(self.game.decisions) and not is_revealed

    @property
    def seat_words(self) -> str:
        """The person's seat and the seed, which is left out while it could reveal hidden items."""
        you = f"you are {self.names.armies[self.game.seat]}."
        if self.scenario.has_hidden_items and not self.is_over:
            return capital(you)
        return f"Seed {self.game.seed}; {you}"

    @property
    def question(self) -> str:
        """The question for the current decision, or "" once the battle is over."""
        return "" if self.is_over else question(self.names, self.game.battle)

    def title(self, view: PositionView) -> str:
        """Return the state of the game for the browser's title: a question or result, the name."""
        state = view.step.details if self.is_over else f"{self.question} ({view.stage})"
        return f"{state} {self.scenario.name}"

    def details(self, choices: Mapping[int, ActionView]) -> dict[int, ChoiceDetails]:
        """Return the points and the effect of each of the current choices, by engine code."""
        return choice_details(self.names, self.game.battle, choices)

    def pending_html(self) -> str:
        """Return the text and the points of the spell being cast or dispelled, or ""."""
        battle = self.game.battle
        pending = self.names.pending(battle)
        if self.is_over or pending is None:
            return ""
        army, spell = pending
        is_cast = bool(battle.state.spell or battle.state.free) and battle.node != Node.TARGET
        points = points_at_stake(self.names, battle) if is_cast else None
        text = spell_sentence(self.names.spells[army][spell].spell)
        return render_macro("pending", text, points, self.names.point, template="web.html")

    def act(self, code: int) -> None:
        """Play a choice by its engine code, then play up to the next one.

        Raises:
            ValueError: if the choice is illegal.
        """
        self.game.act(code)
        self._play_on()
        self.on_change(self)

    def undo(self, decision: int = -1) -> None:
        """Go back to a decision, by default the last one; does nothing if there is none."""
        if self.can_undo and -len(self.game.decisions) <= decision < len(self.game.decisions):
            self.game.undo(decision)
            self.on_change(self)

    def advice(self) -> ShownAdvice:
        """Return the value of every choice; this takes several seconds in large scenarios."""
        with self._solving:
            return self._advice()

    def evaluation(self) -> Callable[[Callable[[], bool]], Evaluation | None]:
        """Return a function that evaluates the current decision.

        The function works on a copy of the position, so it may run during the game. Its
        argument says whether the result is still wanted when the computation can begin. It returns
        None if it is not, or if hidden items make the rest of the battle too large to solve. Only
        the person's information is used.
        """
        battle = self.game.battle.copy()
        codes = [event.code for event in self.game.events]
        hides = any(len(each) > 1 for each in self._sets())

        def evaluate(is_wanted: Callable[[], bool]) -> Evaluation | None:
            with self._solving:
                if not is_wanted():
                    return None
                return self._mixed_value(codes) if hides else self._value(battle)

        return evaluate

    def _value(self, battle: Battle) -> Evaluation:
        analysis = self.analyst.analyse(battle)
        return Evaluation(analysis.value, analysis.is_exact)

    def _mixed_value(self, codes: list[int]) -> Evaluation | None:
        try:
            chances = self._mixer.mixture(codes).chances
            values = self._mixer.action_values(codes, max(chances, key=chances.__getitem__)).values
        except TooLarge:
            return None
        return Evaluation(sum(chance * values[code] for code, chance in chances.items()), False)

    def _advice(self) -> ShownAdvice:
        if any(len(each) > 1 for each in self._sets()):
            return self._mixed_advice()
        battle, choices = self.game.battle, self.game.choices()
        analysis = self.analyst.analyse(battle)
        how = "exact" if analysis.is_exact else f"estimated, {analysis.method}"
        marks = {code: exact_points(value) for code, value in analysis.values.items()}
        words, dice = f"Points still to come for you: {how}.", None
        if not analysis.is_exact:
            words += " The command advise solves larger battles exactly."
        best = next(filter(analysis.recommends, analysis.values), None)
        if best is not None and choices[best].chance is not None:
            # Ties go to the choice that is most likely to succeed, as in `complete_play`.
            equal = [code for code in choices if analysis.loss(code) < TIE]
            best = max(equal, key=lambda code: choices[code].chance or 0)
        elif best is not None:
            after = complete_play(self.analyst.analyse, self.names, battle, best)
            text, dice, _ = describe_action(self.names, battle, best, after)
            if dice is not None:
                words = f"Best: {text} ({marks[best]} points). {words}"
        return ShownAdvice(marks, best, words, dice)

    def _sets(self) -> list[list[HiddenSet]]:
        """Return the sets of hidden items that each army may have been dealt."""
        return [sets_that_may_be(self.names, self.game.battle, army) for army in ALL_ARMIES]

    def _mixed_advice(self) -> ShownAdvice:
        """Return the equilibrium strategy, given the person's information."""
        try:
            mixture = self._mixer.mixture([event.code for event in self.game.events])
        except TooLarge:
            return ShownAdvice({}, None, _TOO_LARGE)
        words = (
            "Probability of each choice, given your items: an equilibrium within "
            f"{mixture.gap:.2f} {self.names.point}s."
        )
        if not mixture.follows_play:
            words += _NOT_WEIGHED
        marks = {code: f"{chance:.0%}" for code, chance in mixture.chances.items()}
        return ShownAdvice(marks, None, words)

    def odds_html(self) -> str:
        """Return the odds for the current dice as an HTML fragment, or "" if no dice are thrown."""
        battle = self.game.battle
        if self.is_over:
            return ""
        if casts := cast_odds(self.names, battle):
            return render_macro("cast_odds", casts, self.names.point)
        dispels = dispel_odds(self.names, battle)
        return render_macro("dispel_odds", dispels) if dispels else ""

    def _known_events(self) -> list[Event]:
        """Return all events as the person may see them."""
        known = armies_known(self.game.battle, self.game.seat)
        return list(redact_events(self.names, self.game.events, known))

    def recent_html(self) -> str:
        """Return the events since the person's last decision, in order, or the last few of them."""
        events = self._known_events()
        first = self.game.decisions[-1] if self.game.decisions else 0
        shown = events[max(first, len(events) - _MOST_RECENT) :]
        earlier = len(events) - first - len(shown)
        return render_macro("recent", list(map(event_html, shown)), earlier, template="web.html")

    def log_html(self) -> str:
        """Return the log, newest entry first, with links to undo the person's decisions."""
        events = self._known_events()
        undoable = self.game.decisions if self.can_undo else []
        decisions = {event: k for k, event in enumerate(undoable)}
        rows = [(event_html(event), decisions.get(k)) for k, event in enumerate(events)]
        return render_macro("log", rows, f"{self.scenario.name} begins.", template="web.html")

    # --- the battlefield -------------------------------------------------------------------

    def aimed_spells(self) -> dict[int, str]:
        """Return the names of the person's spells that need a target, by index.

        For wizards who rolled their spells, only the spells that they know are included.
        """
        if self.scenario.battlefield is None:
            return {}
        seat, own = self.game.seat, self.names.spells[self.game.seat]
        return {
            number: self.names.spell(seat, number)
            for number in self.names.spells_at_hand(self.game.battle, seat)
            if own[number].spell.effect is not None
        }

    def spell_at_stake(self) -> tuple[int, int] | None:
        """Return the `(army, index)` of the spell being cast, if it needs a target."""
        at_stake = self.names.pending(self.game.battle) if not self.is_over else None
        if at_stake is None or self.names.spells[at_stake[0]][at_stake[1]].spell.effect is None:
            return None
        return at_stake

    def map_html(self, spell: tuple[int, int] | None = None) -> str:
        """Return the battlefield with the reach of the spell `(army, index)` as HTML, or ""."""
        if self.scenario.battlefield is None:
            return ""
        visible = self.game.narrated.visible
        standing = standing_pieces(visible) if spell is None else b""
        if standing and self._map[0] == standing:
            return self._map[1]
        svg = to_svg(draw_battlefield(self.scenario, visible, spell, legend=False))
        html = render_macro("battlefield", svg, spell is not None, template="web.html")
        if standing:
            self._map = standing, html
        return html

    def target_at(self, code: int | None, point: int | None) -> int | None:
        """Return the choice that aims at a unit, a character or a point in the drawing.

        Args:
            code: code of the unit or character (`wfb_gym.scenario.battlefield.target_number`).
            point: number of the point, from 0.

        Returns:
            The engine code, or None if the target is not currently legal.
        """
        battle = self.game.battle
        if battle.node != Node.TARGET or battle.mover != self.game.seat:
            return None
        if point is not None:
            action = FIRST_TARGET + FIRST_POINT + point
        elif code is not None:
            army, index = divmod(code, TARGETS)
            side = 0 if army == battle.mover else 1
            action = FIRST_TARGET + 1 + side * TARGETS + index
        else:
            return None
        return action if action in battle.legal_actions() else None

    # --- afterwards ------------------------------------------------------------------------

    def review(self, progress: Progress | None = None) -> Review:
        """Return a review of the battle so far; this takes a while in large scenarios.

        Raises:
            ValueError: if items are hidden and the battle is not over.
        """
        with self._solving:
            return review(self.transcript(), analyst=self.analyst, progress=progress)

    def transcript(self) -> Transcript:
        """Return the transcript so far. Until the end, it leaves out the deals of hidden items."""
        transcript = self.game.transcript()
        return transcript if self.is_over else transcript.published()

    def _play_on(self) -> None:
        for _ in self.game.play_on():
            pass
