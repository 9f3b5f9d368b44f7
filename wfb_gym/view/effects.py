"""Short descriptions of spells and items, generated from their data."""

from collections.abc import Iterator

from wfb_gym.scenario.effects import SPELL_FLAGS, Damage, SpellEffect, Worth
from wfb_gym.scenario.items import Item
from wfb_gym.scenario.spells import SpellVersion

_HITS = {
    "1": "1 hit",
    "D6 chain": "D6 hits and a chain",
    "line": "1 hit per model on the line",
    "template": "1 hit per model under a template",
    "front_rank": "1 hit per model of the front rank",
    "every_model": "1 hit per model",
}
_IN_PLAY = {"remains_in_play": "remains in play", "one_turn": "one turn"}


def damage_words(damage: Damage) -> str:
    """Describe hits and wounds: "D6 hits S4, flaming"."""
    words = _HITS.get(damage.hits, f"{damage.hits} hits")
    if damage.strength_by_armour is not None:
        words += f" S{'/'.join(map(str, damage.strength_by_armour))} by armour"
    elif damage.strength_dice is not None:
        words += f" S{damage.strength_dice}"
    elif damage.strength is not None:
        words += f" S{damage.strength}"
    if damage.template is not None:
        words = words.replace("a template", f'a {damage.template:g}" template')
    if damage.partial is not None:
        words += f", touched ones on {damage.partial}+"
    for is_set, text in (
        (damage.automatic, "no roll to wound"),
        (not damage.armour_save, "no armour"),
        (not damage.ward_save, "no ward"),
        (damage.flaming, "flaming"),
    ):
        words += f", {text}" if is_set else ""
    return words


def effect_words(effect: SpellEffect) -> str:
    """Describe an effect's hits, wounds and flags, or return "" if it has none."""
    parts = []
    if effect.damage is not None:
        parts.append(damage_words(effect.damage))
        if effect.near is not None and effect.near.extra is not None:
            parts.append(f"{effect.near.extra} more if the target touches the terrain")
    if effect.caster_damage is not None:
        parts.append(f"{damage_words(effect.caster_damage)} on its caster")
    parts += [flag.words for key, flag in SPELL_FLAGS.items() if getattr(effect, key)]
    return "; ".join(parts)


def worth_words(worth: Worth | None) -> str:
    """Describe an estimated value such as "20 points and 5 % per phase", or return "" if None."""
    if worth is None:
        return ""
    parts = [f"{worth.points:g} points"] if worth.points else []
    parts += [f"{100 * worth.share:g} %"] if worth.share else []
    parts += [f"{worth.points_per_phase:g} points per phase"] if worth.points_per_phase else []
    parts += [f"{100 * worth.share_per_phase:g} % per phase"] if worth.share_per_phase else []
    return " and ".join(parts)


def spell_words(spell: SpellVersion) -> str:
    """Describe a spell's effect and duration, for lists of spells.

    Values taken from a scenario or an estimate are marked with "worth".
    """
    parts = []
    if spell.effect is None:
        if spell.worth or not spell.worth_per_phase:
            parts.append(f"worth {spell.worth:g} points")
        if spell.worth_per_phase:
            parts.append(f"worth {spell.worth_per_phase:g} points per phase")
    else:
        effect, value = effect_words(spell.effect), worth_words(spell.effect.worth)
        parts += [effect] if effect else []
        if value:
            whose = " of its target" if "%" in value else ""
            parts.append(f"worth {value}{whose} by estimate")
        if spell.effect.range_inches is not None:
            parts.append(f'{spell.effect.range_inches}"')
    if spell.is_delayed:
        parts.append("strikes later")
    elif spell.duration in _IN_PLAY:
        parts.append(_IN_PLAY[spell.duration])
    return ", ".join(parts)


def item_words(item: Item) -> str:
    """Describe an item's effects."""
    return "; ".join(_item_parts(item))


def _item_parts(item: Item) -> Iterator[str]:
    for number, text in (
        (item.power_dice, "power {dice} in each of its side's phases"),
        (item.dispel_dice, "dispel {dice} in each enemy phase"),
        (item.bearer_dice, "power {dice} that only its bearer uses"),
        (item.extra_dice_cap, "more {dice} on one spell of its bearer"),
        (item.cast_bonus, "to its bearer's casting results"),
        (item.dispel_bonus, "to every dispel roll of its side"),
        (item.extra_spells, "more {spells} that its bearer rolls"),
    ):
        if number:
            dice, spells = ("die", "spell") if abs(number) == 1 else ("dice", "spells")
            yield f"{number:+d} {text.format(dice=dice, spells=spells)}"
    if item.takes_power_dice:
        yield f"turns {item.takes_power_dice} of the enemy's power dice into dispel dice"
    if item.any_double:
        yield "any double of a successful cast is irresistible force"
    if (cast := item.when_casting) is not None:
        parts = [f"{cast.extra_dice:+d} dice beyond the limit"] if cast.extra_dice else []
        parts += [f"{cast.bonus:+d} to the result"] if cast.bonus else []
        parts += [] if cast.irresistible else ["that cast cannot be irresistible"]
        yield f"with a cast: {', '.join(parts)}"
    if (dispel := item.when_dispelling) is not None:
        words = f"{dispel.bonus:+d} to one dispel roll"
        if dispel.automatic:
            words = "dispels a spell without a roll"
        if dispel.forgotten_on is not None:
            words += f", and on {dispel.forgotten_on}+ its caster forgets it"
        yield words
    if item.reroll is not None:
        dice = "one die" if item.reroll.dice == "one" else "all dice"
        of = {"cast": "a casting roll", "dispel": "a dispel roll"}.get(item.reroll.of, "any roll")
        yield f"re-rolls {dice} of {of}"
    if item.stores is not None:
        check = ", each on a roll" if item.stores.check else ""
        yield f"keeps up to {item.stores.dice} unused dice for a later phase{check}"
    if item.bound is not None:
        bound = item.bound
        uses = "once per phase"
        if bound.uses:
            uses = "once" if bound.uses == 1 else f"{bound.uses} times"
        names = " or ".join(spell.name for spell in bound.choices)
        yield f"holds {names}, power level {bound.power_level}, {uses}"
    if item.uses:
        yield "once" if item.uses == 1 else f"{item.uses} times"
    if item.ends_own_spells:
        yield "ends its user's spells that remain in play"
