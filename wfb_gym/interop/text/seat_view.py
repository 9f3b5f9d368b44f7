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
        parts.append(["# Position", *position_lines(self.position, _STYLE, points=True)])
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
            "actions": _plain_data(self.actions),
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
    """Return a summary of the rules of a scenario, and the armies' spells, items and characters.

    `position`, at the start, determines the expected points of the spells; `seat` is the reader's.
    """
    lines = ["# Rules", *_rules(names, seat)]
    for army in range(ARMIES):
        own = "your" if army == seat else "the enemy's"
        lines += ["", f"# {capital(names.armies[army])}: {own} spells, items and characters"]
        lines += _spell_lines(names, position, army) or ["no spells"]
        items = {slot.item.name: slot.item for slot in names.items[army]}
        lines += [f"- {name}: {item_words(item)}" for name, item in items.items()]
        characters = names.scenario.armies[army].characters
        lines += [f"- {who.name}: {names.points(who.points)}" for who in characters]
    return "\n".join(lines)


def _rules(names: ScenarioNames, seat: int) -> Iterator[str]:
    scenario = names.scenario
    rules = scenario.rules_in_force
    slots = [slot for army in names.spells for slot in army]
    wizards = [who for army in scenario.armies for who in army.wizards]
    several = scenario.phases > 1
    turns = (
        "You may cast spells, and the enemy may"
        if seat == 0
        else "The enemy may cast spells, and you may"
    )
    yield (
        f"You play {names.armies[seat]} in {scenario.name}, a dice game of "
        f"{plural(scenario.phases, 'magic phase')} between two armies. {turns} try to stop them"
        f"{'; in the next phase it is the other way round, and so on' * several}."
    )
    yield (
        f"Win as many {names.point}s as possible. Losses of the enemy add to your points, and your "
        f"own losses subtract from them. {_losses(names)} Unspent dice "
        "and items are worth nothing at the end."
    )
    included = (
        ' Hits, Strength (S4), range in inches (24") and estimates are already included in them.'
        if any(slot.spell.effect is not None for slot in slots)
        else ""
    )
    yield (
        "The points shown with a spell are the average that it wins if it takes effect now, on its "
        f"best target.{included}"
    )
    pools, own = "the pool", ""
    if rules.own_dice:
        pools, own = "its own dice and the pool", " No other wizard can use its own dice."
    yield (
        "Casting: name a spell, which cannot be taken back. Then choose its target, an item and "
        f"the wizard's power dice from {pools}, at most its level + 1.{own} The spell is cast if "
        "the total is at least its casting value; a total of 1 or 2 always fails. Two or more 6s "
        "are irresistible force: the spell is cast and cannot be dispelled. Two or more 1s are a "
        "miscast, even with 6s. A wizard tries each spell once per phase. Each die is thrown once "
        "per phase, and dice that are not thrown stay for later spells of the phase."
    )
    yield from _miscast_lines(names)
    if any(slot.item is not None for slot in slots):
        yield (
            "A spell in an item is cast without dice and cannot miscast. Its power level (PL) is "
            "the total that dispel dice need."
        )
    yield (
        "Dispelling: the caster's enemy sees the total and may answer a cast spell once, with any "
        "number of dispel dice or with an item that needs no roll. The dice stop the spell if "
        "their total is at least the caster's total; two or more 1s fail"
        f"{', two or more 6s always succeed' if rules.dispel_double_six else ''}. No wizard is "
        "needed."
    )
    if any(slot.spell.duration != "instant" for slot in slots):
        yield (
            "A spell in play wins its points per phase at the end of each phase. A spell that "
            "remains in play ends when its wizard names another spell or dies."
        )
    if several and any(slot.spell.duration != "instant" for slot in slots):
        yield (
            "After casting, first the caster's enemy and then the caster may use the dice that "
            "they have left to dispel spells in play from earlier phases. The total must be at "
            "least the casting value, and each spell is tried once by each army."
        )
    if rules.panic:
        yield (
            "A unit that loses a quarter or more of its models in a phase may flee at its end. "
            "Fleeing wizards cannot cast and add no dice."
        )
    if any(who.rolls_spells for who in wizards):
        yield (
            "Before the battle, chance gives some wizards spells of the lores listed below. The "
            "position shows the spells that they have."
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


def _losses(names: ScenarioNames) -> str:
    """Return how losses score."""
    if names.scenario.rules_in_force.scoring == "victory_points":
        return (
            "A unit or character counts in full if it is destroyed or flees, and for half if it "
            "is below half of its models or wounds."
        )
    return "Each wound that a character loses costs an equal part of its points."


def _miscast_lines(names: ScenarioNames) -> Iterator[str]:
    """Yield a line for each miscast table, with its wizards if there are several tables."""
    scenario = names.scenario
    users: dict[str, list[tuple[int, int]]] = {}
    for army, side in enumerate(scenario.armies):
        for wizard, who in enumerate(side.wizards):
            users.setdefault(scenario.miscast_table_of(side, who), []).append((army, wizard))
    for table, found in users.items():
        army, wizard = found[0]
        rows = scenario.find_miscast_table(table)
        texts: dict[str, list[int]] = {}
        for total in rows.totals:
            texts.setdefault(names.miscast(army, wizard, total), []).append(total)
        of = ", ".join(names.characters[army][wizard] for army, wizard in found)
        whose = f" of {of}" if len(users) > 1 else ""
        listed = "; ".join(
            f"{totals[0]}{f'-{totals[-1]}' if totals[1:] else ''}: {text}"
            for text, totals in texts.items()
        )
        yield (
            f"After a miscast{whose}, the spell fails unless the table lets it work, and "
            f"{dice_phrase(rows.dice)} are thrown on this table. {listed}."
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
            effect += f", {names.points(value)} at the start" if effect else names.points(value)
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
