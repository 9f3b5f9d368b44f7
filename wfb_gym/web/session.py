"""A game on the page without the page: what is chosen, played, advised and drawn.

No NiceGUI here. A session belongs to one browser; its methods may run in any thread, one at a time.
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from wfb_gym.advising.lists import Lists, scenario_of_lists
from wfb_gym.engine.actions import FIRST_TARGET
from wfb_gym.engine.battle import Battle
from wfb_gym.engine.state import Node
from wfb_gym.opponents.policy_spec import NAMES, SHIPPED, PolicySpec
from wfb_gym.packing.records import FIRST_POINT
from wfb_gym.players.analysis import Analyst
from wfb_gym.render.battlefield import draw_battlefield
from wfb_gym.render.drawing import to_svg
from wfb_gym.render.html import (
    cast_odds_html,
    dispel_odds_html,
    event_html,
    exact_points,
    render_macro,
)
from wfb_gym.scenario import Problem, Scenario, ScenarioError, load_scenario, scenario_from_dict
from wfb_gym.scenario.document_limits import MAX_BYTES
from wfb_gym.scenario.documents import parse_toml
from wfb_gym.scenario.sizes import TARGETS
from wfb_gym.solver import TooLarge
from wfb_gym.transcripts.game import Game
from wfb_gym.transcripts.mixtures import Mixer
from wfb_gym.transcripts.review import Progress, Review, review
from wfb_gym.transcripts.transcript import Transcript
from wfb_gym.view.choices import question
from wfb_gym.view.events import all_as_told
from wfb_gym.view.hidden_sets import EVERYBODY, HiddenSet, armies_known, sets_that_may_be
from wfb_gym.view.names import ScenarioNames, capital
from wfb_gym.view.odds import cast_odds, dispel_odds

MOST_WIZARDS = 6
"""Wizards in lists that are put together on the page."""
OPPONENTS = (*NAMES, *SHIPPED)
"""Opponents that are offered; a number may stand behind the name of a scripted or searching one."""
_OWN = "your scenario"
_TOO_LARGE = (
    "No advice yet: this battle may go on in too many ways to say how often to choose what."
)
_NOT_WEIGHED = (
    " What was played before is not weighed, as the whole battle is too large to solve: it counts "
    "what the deal and the items that were shown tell."
)


@dataclass(frozen=True)
class Setup:
    """What is chosen before a game.

    Attributes:
        scenario: a bundled one's name, or None.
        text: of a scenario file, where `scenario` is None; or `lists`, where both are.
        lists: small lists.
        seat: 0 or 1.
        opponent: one of `OPPONENTS`, perhaps with a number behind it.
        seed: of the dice; drawn where it is None.
    """

    scenario: str | None = "archmage-duel"
    text: str | None = None
    lists: Lists = field(default_factory=lambda: Lists(()))
    seat: int = 0
    opponent: str = "veteran"
    seed: int | None = None


def scenario_of(setup: Setup) -> Scenario:
    """Return the scenario that a setup asks for.

    Raises:
        ScenarioError: it is refused.
        ValueError: the lists are refused.
    """
    if setup.scenario is not None:
        return load_scenario(setup.scenario)
    if setup.text is not None:
        return scenario_from_text(setup.text)
    return scenario_of_lists(setup.lists)


def scenario_from_text(text: str) -> Scenario:
    """Read the text of a scenario file, checked like any other.

    Raises:
        ScenarioError: it is too long, no TOML, or no scenario.
    """
    if not text.strip():
        raise ScenarioError(_OWN, [Problem("", "the text of a scenario file", "nothing")])
    size = len(text.encode(errors="replace"))
    if size > MAX_BYTES:
        raise ScenarioError(_OWN, [Problem("", f"at most {MAX_BYTES:,} bytes", f"{size:,} bytes")])
    return scenario_from_dict(parse_toml(text.removeprefix("\ufeff"), _OWN), _OWN)


def check_opponent(name: str) -> None:
    """Refuse what is none of the registry's players: no file is opened for a page.

    Raises:
        ValueError: it is none.
    """
    spec = PolicySpec.find(name, "opponent")
    if spec is None or spec.is_file:
        raise ValueError(f"opponent: expected one of {', '.join(OPPONENTS)}, found {name!r}")


class ShownAdvice(NamedTuple):
    """What is written on the choices, by engine code; the best; and what it means."""

    marks: dict[int, str]
    best: int | None
    words: str


class Session:
    """One browser's game.

    Raises:
        ValueError: the opponent is unknown, or cannot play the scenario.
        ImportError: the opponent needs an extra that is not installed.
    """

    def __init__(self, scenario: Scenario, setup: Setup) -> None:
        check_opponent(setup.opponent)
        self.game = Game(scenario, setup.seat, setup.opponent, setup.seed)
        self.scenario = scenario
        self.analyst = Analyst(scenario)
        self._play_on()

    @cached_property
    def _mixer(self) -> Mixer:
        return Mixer(self.scenario)

    @property
    def names(self) -> ScenarioNames:
        """Names of the scenario."""
        return self.game.narrated.names

    @property
    def visible(self) -> Battle:
        """The position as it is shown."""
        return self.game.narrated.visible

    @property
    def is_over(self) -> bool:
        """Whether the battle has ended."""
        return self.game.battle.is_over

    @property
    def can_undo(self) -> bool:
        """Whether a decision can be taken back: not after hidden items were told in the end."""
        told = self.is_over and self.scenario.has_secrets
        return bool(self.game.decisions) and not told

    @property
    def seat_words(self) -> str:
        """Which seat is the person's, and the seed; from it what is still hidden would follow."""
        you = f"you are {self.names.armies[self.game.seat]}."
        if self.scenario.has_secrets and not self.is_over:
            return capital(you)
        return f"Seed {self.game.seed}; {you}"

    @property
    def question(self) -> str:
        """What the person is asked; "" when the battle is over."""
        return "" if self.is_over else question(self.names, self.game.battle)

    def act(self, code: int) -> None:
        """Play a choice, and on to the next one.

        Raises:
            ValueError: it is not legal.
        """
        self.game.act(code)
        self._play_on()

    def undo(self, decision: int = -1) -> None:
        """Go back to a decision, the last unless told which; nothing where there is none."""
        if self.can_undo and -len(self.game.decisions) <= decision < len(self.game.decisions):
            self.game.undo(decision)

    def advice(self) -> ShownAdvice:
        """Return what every choice is worth; takes seconds in large scenarios."""
        if any(len(each) > 1 for each in self._sets()):
            return self._mixed_advice()
        analysis = self.analyst.analyse(self.game.battle)
        best = next(filter(analysis.recommends, analysis.values), None)
        how = "exact" if analysis.is_exact else f"estimated, {analysis.method}"
        marks = {code: exact_points(value) for code, value in analysis.values.items()}
        return ShownAdvice(marks, best, f"Points still to come for you: {how}.")

    def _sets(self) -> list[list[HiddenSet]]:
        """Return the sets of hidden items that each army may have been dealt."""
        return [sets_that_may_be(self.names, self.game.battle, army) for army in EVERYBODY]

    def _mixed_advice(self) -> ShownAdvice:
        """Return how often to choose what, by what the person knows."""
        try:
            mixture = self._mixer.mixture([event.code for event in self.game.events])
        except TooLarge:
            return ShownAdvice({}, None, _TOO_LARGE)
        words = (
            "How often to choose each, with what you have: an equilibrium within "
            f"{mixture.gap:.2f} {self.names.point}s."
        )
        if not mixture.follows_play:
            words += _NOT_WEIGHED
        marks = {code: f"{chance:.0%}" for code, chance in mixture.chances.items()}
        return ShownAdvice(marks, None, words)

    def odds_html(self) -> str:
        """Return what the dice can do now, as a fragment of HTML; "" where none are thrown."""
        battle = self.game.battle
        if self.is_over:
            return ""
        casts = cast_odds(self.names, battle)
        if casts:
            return cast_odds_html(casts)
        dispels = dispel_odds(self.names, battle)
        return dispel_odds_html(dispels) if dispels else ""

    def log_html(self) -> str:
        """Return what happened, the last first, with ways back to the person's decisions."""
        events = list(
            all_as_told(
                self.names, self.game.events, armies_known(self.game.battle, self.game.seat)
            )
        )
        decisions = {
            event: k for k, event in enumerate(self.game.decisions if self.can_undo else ())
        }
        rows = [(event_html(event), decisions.get(k)) for k, event in enumerate(events)]
        return render_macro("log", rows, f"{self.scenario.name} begins.", template="web.html")

    # --- the battlefield -------------------------------------------------------------------

    def aimed_spells(self) -> dict[int, str]:
        """Return the person's spells that are aimed at somebody, by number.

        Of a lore that a wizard has rolled its spells on these are the ones that it knows.
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
        """Return army and number of the spell that is being cast, if it is aimed at somebody."""
        at_stake = self.names.pending(self.game.battle) if not self.is_over else None
        if at_stake is None or self.names.spells[at_stake[0]][at_stake[1]].spell.effect is None:
            return None
        return at_stake

    def map_html(self, spell: tuple[int, int] | None = None) -> str:
        """Return the battlefield, with what a spell reaches, in HTML; "" where there is none."""
        if self.scenario.battlefield is None:
            return ""
        svg = to_svg(draw_battlefield(self.scenario, self.visible, spell, legend=False))
        return render_macro("battlefield", svg, spell is not None, template="web.html")

    def target_at(self, code: int | None, point: int | None) -> int | None:
        """Return the choice that aims at a unit or character, or at a point, of the drawing.

        Args:
            code: of `wfb_gym.scenario.battlefield.target_number`.
            point: number of a point, from 0.

        Returns:
            The engine code; None where it may not be chosen.
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
        """Return the review of the battle so far; takes a while in large scenarios.

        Raises:
            ValueError: items are hidden, and the battle is not over.
        """
        return review(self.transcript(), analyst=self.analyst, progress=progress)

    def transcript(self) -> Transcript:
        """Return the battle so far: before its end without what was dealt of hidden items."""
        transcript = self.game.transcript()
        return transcript if self.is_over else transcript.published()

    def _play_on(self) -> None:
        for _ in self.game.play_on():
            pass
