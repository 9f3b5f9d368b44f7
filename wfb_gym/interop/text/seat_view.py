"""A seat's view of a battle, as compact text and as data for JSON.

Both are made from `wfb_gym.view`: the position, the events and the legal actions, without the
enemy's hidden items. Actions have the indices of the Gymnasium environments.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from typing import Any

from wfb_gym.encoding.actions import ActionCodec
from wfb_gym.engine.nodes import CAST_CHOICES
from wfb_gym.engine.state import Node
from wfb_gym.interop.text.replies import LegalAction
from wfb_gym.render.ansi import AnsiStyle, event_lines, position_lines
from wfb_gym.scenario.sizes import ARMIES
from wfb_gym.seats import SEATS
from wfb_gym.transcripts.narrated_battle import NarratedBattle
from wfb_gym.view.choices import short_choice_names, view_decision
from wfb_gym.view.effects import item_words, spell_words
from wfb_gym.view.events import Event, redact_events
from wfb_gym.view.hidden_sets import armies_known, redact
from wfb_gym.view.names import ScenarioNames, capital, dice_phrase, plural
from wfb_gym.view.odds import SpellOdds, cast_odds
from wfb_gym.view.position import PositionView

_STYLE = AnsiStyle(colour=False, graphics=False)


@dataclass(frozen=True)
class SeatView:
    """A seat's view of a battle.

    Attributes:
        seat: the seat, 0 or 1.
        rules: a summary of the rules, the spells and the items (`rules_summary`).
        position: the position as the seat sees it.
        history: the events that the seat saw, in order.
        new: the number of events in `history` that the seat has been shown before.
        question: the question of the decision, or "" if the seat is not to move.
        stake: the spell that may be dispelled and its points, or "".
        actions: the legal actions in ascending order of their indices; () if it is not to move.
        odds: the odds of casting each spell, by the spell's name, if they were requested.
    """

    seat: int
    rules: str
    position: PositionView
    history: tuple[Event, ...]
    new: int
    question: str
    stake: str
    actions: tuple[LegalAction, ...]
    odds: dict[str, SpellOdds] | None = None

    def text(self, *, rules: bool = False, history: bool = False) -> str:
        """Return the view as text.

        Args:
            rules: whether to start with the summary of the rules.
            history: whether to list all events, instead of only the new ones.
        """
        events = self.history if history else self.history[self.new :]
        parts = [[self.rules]] if rules else []
        if events:
            parts.append(["# Events", *event_lines(events, _STYLE)])
        parts.append(["# Position", *position_lines(self.position, _STYLE)])
        if self.actions:
            parts.append([self.decision_text])
        return "\n\n".join("\n".join(lines) for lines in parts)

    @property
    def decision_text(self) -> str:
        """The decision as text: the question, the odds if requested, and the legal actions."""
        return "\n".join(self._decision_lines())

    def _decision_lines(self) -> Iterator[str]:
        yield "# Your decision"
        yield self.question
        if self.stake:
            yield self.stake
        for name, spell in (self.odds or {}).items():
            casts = (
                f"{dice_phrase(each.dice)} {each.cast:.1%} (miscast {each.miscast:.1%})"
                for each in spell.casts
                if each.dice
            )
            yield f"Chances of {name}: {', '.join(casts) or 'cast without dice'}"
        for action in self.actions:
            yield f"[{action.index}] {action.text}"

    def to_dict(self) -> dict[str, Any]:
        """Return the view as nested dicts, lists, texts and numbers, for JSON."""
        actions = [
            {"index": each.index, "label": each.label, "note": each.note, "chance": each.chance}
            for each in self.actions
        ]
        history = [
            {
                "kind": event.kind,
                "army": event.army,
                "words": event.words,
                "faces": list(event.faces),
                "points": event.points,
            }
            for event in self.history
        ]
        return {
            "scenario": self.position.scenario,
            "seat": SEATS[self.seat],
            "rules": self.rules,
            "position": _plain_data(self.position),
            "history": history,
            "new": self.new,
            "question": self.question,
            "stake": self.stake,
            "actions": actions,
            "odds": _plain_data(self.odds),
        }


def view_seat(
    narrated: NarratedBattle,
    seat: int,
    codec: ActionCodec,
    events: Sequence[Event],
    *,
    rules: str = "",
    new: int = 0,
    odds: bool = False,
) -> SeatView:
    """Return a seat's view of a battle.

    Args:
        narrated: the battle.
        seat: the seat, 0 or 1.
        codec: codec for the seat's action space.
        events: all events so far.
        rules: the summary of the rules.
        new: the number of events that the seat has been shown before.
        odds: whether to include the chances of casting and dispelling.
    """
    names, battle = narrated.names, narrated.battle
    history = tuple(redact_events(names, events, armies_known(battle, seat)))
    question = stake = ""
    actions: tuple[LegalAction, ...] = ()
    chances: dict[str, SpellOdds] | None = None
    if battle.is_decision() and battle.mover == seat:
        seen = redact(battle, (seat,))
        decision = view_decision(names, seen)
        texts = {code: each.text for code, each in decision.actions.items()}
        counts, short = Counter(texts.values()), short_choice_names(names, seen, texts)
        question, stake = decision.question, decision.stake
        found = []
        for code, each in decision.actions.items():
            index = int(codec.index_of[code])
            label = f"{each.text} ({index})" if counts[each.text] > 1 else each.text
            chance = float(each.chance) if odds and each.chance is not None else None
            found.append(LegalAction(index, label, decision.notes[code], chance, short[code]))
        actions = tuple(sorted(found, key=lambda action: action.index))
        if odds:
            casting = battle.node in (Node.NOMINATE, *CAST_CHOICES)
            chances = cast_odds(names, seen) if casting else {}
    position = narrated.view(seat)
    return SeatView(seat, rules, position, history, new, question, stake, actions, chances)


def rules_summary(names: ScenarioNames, position: PositionView, seat: int) -> str:
    """Return a summary of the rules of a scenario, with the spells and items of both armies.

    Args:
        names: display names used in the scenario.
        position: the position at the start, which determines the expected points of the spells.
        seat: the reader's seat, 0 or 1.
    """
    lines = ["# Rules", *_rules(names, seat)]
    for army in range(ARMIES):
        own = "your" if army == seat else "the enemy's"
        lines += ["", f"# {capital(names.armies[army])}: {own} spells and items"]
        lines += _spell_lines(names, position, army) or ["no spells"]
        items = {slot.item.name: slot.item for slot in names.items[army]}
        lines += [f"- {name}: {item_words(item)}" for name, item in items.items()]
    return "\n".join(lines)


def _rules(names: ScenarioNames, seat: int) -> Iterator[str]:
    scenario = names.scenario
    rules = scenario.rules_in_force
    phases = plural(scenario.phases, "magic phase")
    yield (
        f"You play {names.armies[seat]} in {scenario.name}, a dice game of {phases} between two "
        f"armies. {capital(names.armies[0])} casts spells{' first' * (scenario.phases > 1)}, and "
        f"{names.armies[1]} tries to stop them{'; then they take turns' * (scenario.phases > 1)}."
    )
    yield (
        f"Win as many {names.point}s as possible. Your points are losses of the enemy. Unspent "
        "dice and items are worth nothing at the end."
    )
    pools = "the wizard's own dice and the pool" if rules.own_dice else "the pool"
    yield (
        "Casting: name a spell, which cannot be taken back. Then choose its target, an item and "
        f"power dice from {pools}, at most the wizard's level + 1. The spell is cast if the total "
        "is at least its casting value; a total of 1 or 2 always fails. Two or more 6s are "
        "irresistible force: the spell cannot be dispelled. Two or more 1s are a miscast, even "
        "with 6s: the spell fails, and a roll on a table may harm the caster. A wizard tries each "
        "spell once per phase, and each die is thrown once per phase."
    )
    yield (
        "Dispelling: the caster's enemy may answer a cast spell once. Its dispel dice stop the "
        "spell if their total is at least the caster's total; two or more 1s fail"
        f"{', two or more 6s always succeed' if rules.dispel_double_six else ''}. Items may help. "
        "A spell that remains in play can be dispelled in later phases too."
    )
    if scenario.has_hidden_items:
        yield (
            "Hidden items: chance deals an army one of its possible sets of items. The enemy does "
            "not see the set, only the items that are used."
        )
    yield (
        "Answer each decision with exactly one action in square brackets, by its number or its "
        'label, such as [0]. A fenced JSON block {"move": 0} is accepted too.'
    )


def _spell_lines(names: ScenarioNames, position: PositionView, army: int) -> list[str]:
    lines = []
    points = {
        spell.number: spell.points
        for who in position.armies[army].characters
        for spell in who.spells
    }
    for number, slot in enumerate(names.spells[army]):
        effect, value = spell_words(slot.spell), points.get(number)
        if value is not None and slot.spell.effect is not None:
            effect += f", {names.points(value)} expected now" if effect else names.points(value)
        lines.append(f"- {names.spell(army, number)}: {effect}")
    return list(dict.fromkeys(lines))


def _plain_data(value: Any) -> Any:
    """Return a view as nested dicts, lists, texts and numbers."""
    if isinstance(value, Enum):
        return value.value
    if is_dataclass(value):
        return {each.name: _plain_data(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {name: _plain_data(each) for name, each in value._asdict().items()}
    if isinstance(value, dict):
        return {name: _plain_data(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain_data(each) for each in value]
    return value
