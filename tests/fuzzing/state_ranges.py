"""The ranges of a saved position's fields, written from their meaning in `wfb_gym.engine.state`.

An oracle for `wfb_gym.encoding.state_validation`: it uses neither its tables nor its functions, and
works on the plain numbers of one position. It checks ranges and relations of few fields. So it
finds fewer faults than the validation, but none that the validation may accept.
"""

from collections.abc import Iterator
from typing import Any

from wfb_gym.engine.state import BARS_ITEMS, DECLARED_BITS, Node
from wfb_gym.packing.records import Duration, Lock
from wfb_gym.scenario.sizes import ARMIES, DICE, ITEMS, MAX_WOUNDS, SPELLS, TARGETS, UNITS, WIZARDS

_OF_CHANCE = (
    "dice", "group", "striking", "strike", "hits", "odd_hit", "member", "radius", "return_to",
)  # fmt: skip
"""Fields that only chance nodes use; a position is saved at a decision or at the end."""
_UNDER_WAY = (
    "spell", "aim", "cast_item", "reserve", "attempt", "joined", "target", "declared", "number",
    "row", "cursor", "free", "free_aim", "natural_result", "after_miscast",
)  # fmt: skip
"""Fields that are 0 while nothing is under way."""
_BETWEEN = (Node.END, Node.NOMINATE, Node.IN_PLAY)
_ALL_TARGETS = (1 << TARGETS) - 1


def problems(packed: Any, state: Any) -> Iterator[str]:
    """Return the fields of a saved position that cannot be, each with its value and its range."""
    for name, value, low, high in _ranges(packed, state):
        if not low <= value <= high:
            yield f"{name} is {value}, expected {low}..{high}"
            return  # others may not be looked up
    for name, is_good in _laws(packed, state):
        if not is_good:
            yield name


def _ranges(packed: Any, state: Any) -> Iterator[tuple[str, int, int, int]]:
    """Yield name, value, least and greatest value of every number; earlier ones bound others."""
    yield "node", int(state["node"]), 0, int(Node.STORE_DICE)
    yield "mover", int(state["mover"]), 0, 1
    yield "active", int(state["active"]), 0, 1
    running, phases = state["node"] != Node.END, int(packed["phases"])
    yield "phase", int(state["phase"]), 0, phases - 1 if running else phases
    mover, active = int(state["mover"]), int(state["active"])
    sides = packed["armies"]
    spells = [int(side["n_spells"]) for side in sides]
    yield "castable", int(state["castable"]), 0, (1 << spells[active]) - 1
    for name in ("power", "dispel", "reserve"):
        yield name, int(state[name]), 0, DICE
    for name in _OF_CHANCE:
        yield name, int(state[name]), 0, 0
    yield "spell", int(state["spell"]), 0, spells[active]
    yield "free", int(state["free"]), 0, spells[1 - active]
    for aim, name, army in (("aim", "spell", active), ("free_aim", "free", 1 - active)):
        number = int(state[name])
        aims = int(sides[army]["spells"][number - 1]["n_aims"]) if number else 0
        yield aim, int(state[aim]), 0, aims
    yield "cast_item", int(state["cast_item"]), 0, int(sides[active]["n_items"])
    yield "joined", int(state["joined"]), 0, int(sides[mover]["n_wizards"])
    yield "target", int(state["target"]), 0, ARMIES * SPELLS
    yield "row", int(state["row"]), 0, int(packed["n_miscast_rows"])
    yield "cursor", int(state["cursor"]), 0, ARMIES * max(ITEMS, WIZARDS)
    yield "attempt", int(state["attempt"]), 0, 3
    yield "after_miscast", int(state["after_miscast"]), 0, 2
    yield "natural_result", int(state["natural_result"]), 0, 2
    yield "number", int(state["number"]), -12 * DICE, 255
    items = int(sides[mover]["n_items"])
    yield "declared", int(state["declared"]), 0, (1 << DECLARED_BITS * items) - 1
    yield "emptied", int(state["emptied"]), 0, 3
    for name in ("faces", "held", "own_dice"):
        yield from ((name, each, 0, DICE) for each in map(int, state[name]))
    for at, contact in enumerate(packed["contacts"]):
        yield "contacts", int(state["contacts"][at]), 0, int(contact["models"])
    for army, side in enumerate(sides):
        yield from _ranges_of_army(side, state, army, spells[army])


def _ranges_of_army(
    side: Any, state: Any, army: int, spells: int
) -> Iterator[tuple[str, int, int, int]]:
    """Yield the same of the fields that each army has."""
    for name in ("known", "in_play", "new_in_play", "attempted"):
        yield name, int(state[name][army]), 0, (1 << spells) - 1
    yield "fleeing", int(state["fleeing"][army]), 0, _ALL_TARGETS
    yield "hidden_set", int(state["hidden_set"][army]), 0, int(side["n_kinds"])
    for at, unit in enumerate(side["units"]):
        most = int(unit["models"]) * int(unit["wounds"])
        yield "unit_wounds", int(state["unit_wounds"][army, at]), 0, most
        yield "phase_models", int(state["phase_models"][army, at]), 0, int(unit["models"])
    for at, wizard in enumerate(side["wizards"]):
        wounds = max(MAX_WOUNDS, int(wizard["wounds"])) if at < side["n_wizards"] else 0
        yield "wounds", int(state["wounds"][army, at]), 0, wounds
        yield "level", int(state["level"][army, at]), 0, int(wizard["level"])
        yield "lock", int(state["lock"][army, at]), 0, BARS_ITEMS + int(Lock.BATTLE_END)
        yield "markers", int(state["markers"][army, at]), 0, int(state["phase"]) + 1
    for at, item in enumerate(side["items"]):
        uses = max(int(item["count"]), int(item["stores"]), *map(int, side["kind_uses"][:, at]))
        yield "items", int(state["items"][army, at]), 0, uses
    for at, spell in enumerate(side["spells"]):
        yield "aims", int(state["aims"][army, at]), 0, int(spell["n_aims"])
    for marks in map(int, state["marks"][army]):
        yield "marks", marks, 0, (1 << 3 * TARGETS) - 1


def _laws(packed: Any, state: Any) -> Iterator[tuple[str, bool]]:
    """Yield conditions on several fields, and whether they hold."""
    node, active, target = Node(int(state["node"])), int(state["active"]), int(state["target"])
    running = node != Node.END
    yield "active: the army of the phase", not running or active == int(state["phase"]) % 2
    if node in _BETWEEN:
        yield f"nothing is under way at {node.name}", not any(state[name] for name in _UNDER_WAY)
    if target:
        army, spell = divmod(target - 1, SPELLS)
        yield "target: a spell in play", bool(int(state["in_play"][army]) >> spell & 1)
    yield "faces and held: a roll", int(state["faces"].sum() + state["held"].sum()) <= DICE
    side = packed["armies"][active]
    if node == Node.RESERVE_DICE:
        wizard = int(side["spells"][int(state["spell"]) - 1]["wizard"])
        yield "own_dice: some of the wizard that casts", bool(state["own_dice"][wizard])
    if node == Node.DISPEL_RESERVE:
        yield "own_dice: some of the joined wizard", bool(state["own_dice"][state["joined"] - 1])
    for at, wizard in enumerate(side["wizards"]):
        dead = state["wounds"][active, at] == 0 or not wizard["on_table"]
        fled = int(state["fleeing"][active]) >> (UNITS + at) & 1
        own = int(state["castable"]) & int(wizard["spells"] | wizard["bound"])
        yield "castable: spells of wizards that can cast", not (own and (dead or fled))
    for army, side in enumerate(packed["armies"]):
        yield from _laws_of_army(packed, side, state, army)


def _laws_of_army(packed: Any, side: Any, state: Any, army: int) -> Iterator[tuple[str, bool]]:
    """Yield the same of each army."""
    in_play, fleeing = int(state["in_play"][army]), int(state["fleeing"][army])
    for name in ("new_in_play", "attempted"):
        yield f"{name}: spells in play", not int(state[name][army]) & ~in_play
    for at, spell in enumerate(side["spells"]):
        lies = bool(in_play >> at & 1)
        yield "in_play: spells that last", not lies or spell["duration"] != Duration.INSTANT
        aimed = lies and bool(spell["targeted"])
        yield "aims: of aimed spells in play", (state["aims"][army, at] > 0) == aimed
    for at, unit in enumerate(side["units"]):
        wounds, began = int(state["unit_wounds"][army, at]), int(state["phase_models"][army, at])
        fled = fleeing >> at & 1
        left = -(-wounds // max(1, int(unit["wounds"])))
        tests = packed["panic"] and unit["panics"] and not unit["engaged"] and wounds and not fled
        yield "phase_models: of units that may test", bool(tests) or not began
        yield "phase_models: at least those left", not began or began >= left
        yield "fleeing: units that are there", not fled or wounds > 0
    for at in range(WIZARDS):
        fled = fleeing >> (UNITS + at) & 1
        yield "fleeing: characters that are there", not fled or state["wounds"][army, at] > 0
