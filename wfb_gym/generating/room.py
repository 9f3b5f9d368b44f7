"""Whether two armies fit the arrays that a scenario is packed into (`wfb_gym.packing.records`).

Most sizes are kept by the options. Two hang on the spells: marks of those that do not stack on
one target, and units struck, which a spell at a point of the table multiplies.
"""

from collections.abc import Sequence

from wfb_gym.generating.drafts import Host
from wfb_gym.scenario.sizes import MARKS, STRIKES
from wfb_gym.scenario.spells import Spell, spells_of_lore

_OTHERS = 200
"""Units struck that are kept for spells at anything but a point (ours: half as many again as large
battles were seen to need)."""


def finds_room(hosts: Sequence[Host]) -> bool:
    """Whether there is room for all that the spells of both armies bring."""
    if any(_marks(host) > MARKS for host in hosts):
        return False
    pieces = [len(host.troops) + len(host.leaders) for host in hosts]
    struck = sum(
        enemies * sum(pieces)
        for host, enemies in zip(hosts, reversed(pieces), strict=True)
        if any(spell.effect and spell.effect.target == "point" for spell in _known(host))
    )
    return struck <= STRIKES - _OTHERS


def _known(host: Host) -> list[Spell]:
    """The spells that wizards know or may roll, as often as they do."""
    return [
        spell
        for leader in host.leaders
        if leader.wizard
        for spell in spells_of_lore(leader.lore)
        if leader.rolled or spell.name in leader.spells
    ]


def _marks(host: Host) -> int:
    """Spells that stay for the battle, and flat ones that two wizards know."""
    spells = _known(host)
    marked = set()
    for spell in spells:
        effect = spell.effect
        if effect is None:
            continue
        flat = spell.duration == "instant" and effect.damage is None and not effect.heals
        if effect.once or (flat and spells.count(spell) > 1):
            marked.add(spell.name)
    return len(marked)
