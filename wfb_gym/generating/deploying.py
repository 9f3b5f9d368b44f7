"""Where everybody stands: combats in the middle, two lines, and those who run."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from wfb_gym.generating.drafts import Host, Leader, Troop
from wfb_gym.generating.draws import Draws
from wfb_gym.generating.places import DEPTH, WIDTH, Place, place_at

_MIDDLE = DEPTH / 2
_FRIENDS = 0.5
"""Inches between two of one army."""
_FOES = 1.0
"""Inches between two who do not fight each other."""
_EDGE = 0.5
_TRIES = 40
_TURNS = (0, 0, 0, 0, 0, 10, -10, 20, -20)
_STEADY = ("undead", "daemons", "unbreakable", "immune_to_psychology")
"""Traits of those who do not flee (ours)."""


class Standing(NamedTuple):
    """Ground that is taken.

    Attributes:
        army: 0 or 1.
        place: the ground.
        piece: who stands there.
    """

    army: int
    place: Place
    piece: Troop | Leader


def fight(hosts: Sequence[Host], draws: Draws) -> list[tuple[Troop, Troop]]:
    """Pair off units that fight each other, none to three pairs.

    At least half of the units of each army stay out, and units with wizards mostly do.
    """
    fighters = [
        draws.shuffled(
            [
                troop
                for troop in host.troops
                if troop.profile.troop != "war_machine"
                and not troop.skirmish
                and (not _wizards_in(troop, host) or draws.chance(20))
            ]
        )[: len(host.troops) // 2]
        for host in hosts
    ]
    wanted = draws.weighted([(0, 25), (1, 45), (2, 25), (3, 5)])
    pairs = list(zip(*fighters, strict=False))[:wanted]
    for pair in pairs:
        for troop in pair:
            troop.engaged = True
    return pairs


def flee(hosts: Sequence[Host], draws: Draws) -> None:
    """Let few units flee, at most one of each army, and never its last wizard."""
    for host in hosts:
        candidates = [
            troop
            for troop in host.troops
            if not troop.engaged
            and troop.profile.troop in ("infantry", "cavalry")
            and not set(_STEADY) & set(troop.profile.traits)
            and (not _wizards_in(troop, host) or (_others(troop, host) and draws.chance(15)))
        ]
        if candidates and draws.chance(20):
            chosen = draws.pick(candidates)
            chosen.fleeing = True
            for leader in host.leaders:
                if leader.troop is chosen:
                    leader.status = "fleeing"


def stray(hosts: Sequence[Host], draws: Draws) -> None:
    """Let few lone wizards be off the table or just rallied, but never an army's first."""
    for host in hosts:
        wizards = [leader for leader in host.leaders if leader.wizard]
        for leader in wizards[1:]:
            if leader.troop is None and leader.status == "ready":
                leader.status = draws.weighted([("ready", 90), ("rallied", 5), ("off_table", 5)])


def _wizards_in(troop: Troop, host: Host) -> list[Leader]:
    return [leader for leader in host.leaders if leader.wizard and leader.troop is troop]


def _others(troop: Troop, host: Host) -> bool:
    """Whether the army has a wizard elsewhere."""
    return any(leader.wizard and leader.troop is not troop for leader in host.leaders)


def deploy(
    hosts: Sequence[Host], pairs: Sequence[tuple[Troop, Troop]], draws: Draws
) -> list[Standing] | None:
    """Give everybody on the table a place.

    Args:
        hosts: both armies; the first looks towards growing y.
        pairs: units that fight each other.
        draws: the choices.

    Returns:
        Who stands where; None where somebody found no place.
    """
    table = _Table(draws)
    middle = draws.inches(30.0, WIDTH - 30.0)
    spread = min(24.0, 6.0 + 2.5 * max(len(host.troops) for host in hosts))
    for i, pair in enumerate(draws.shuffled(pairs)):
        if not table.lock(
            pair, middle - spread + 2 * spread * i / len(pairs), 2 * spread / len(pairs)
        ):
            return None
    for army, host in enumerate(hosts):
        distance = draws.inches(5.0, 9.0)
        rest = [troop for troop in host.troops if not troop.engaged]
        rest.sort(key=lambda troop: -troop.extent[0])
        for troop in rest:
            wishes = _wishes(troop, army, distance, (middle, spread), draws)
            if not table.put(army, troop, troop.extent, wishes):
                return None
        for leader in host.leaders:
            if not leader.alone:
                continue
            wishes = _near(leader, host, army, distance, draws)
            if not table.put(army, leader, leader.extent, wishes):
                return None
    return table.standing


class _Table:
    """What stands on the table so far."""

    def __init__(self, draws: Draws) -> None:
        self._draws = draws
        self.standing: list[Standing] = []

    def lock(self, pair: tuple[Troop, Troop], low: float, part: float) -> bool:
        """Place two units front to front, in a part of the table's width."""
        narrow = min(troop.extent[0] for troop in pair)
        for _ in range(_TRIES):
            x = self._draws.inches(low, low + part)
            y = self._draws.inches(_MIDDLE - 2.0, _MIDDLE + 2.0)
            shift = self._draws.inches(0.0, float(int(narrow / 2)))
            sides = ((x, y), 0), ((x + shift, y), 180)
            places = [
                place_at(front, troop.extent, facing)
                for troop, (front, facing) in zip(pair, sides, strict=True)
            ]
            if all(place.on_table(_EDGE) and self._free(place, 2) for place in places):
                for army, (front, facing) in enumerate(sides):
                    troop = pair[army]
                    troop.position, troop.facing = front, facing
                    self.standing.append(Standing(army, places[army], troop))
                return True
        return False

    def put(
        self,
        army: int,
        piece: Troop | Leader,
        extent: tuple[float, float],
        wishes: Iterator[tuple[tuple[float, float], int]],
    ) -> bool:
        """Place one on the first free of the fronts and facings that it wishes for."""
        for front, facing in wishes:
            place = place_at(front, extent, facing)
            if place.on_table(_EDGE) and self._free(place, army):
                piece.position, piece.facing = front, facing
                self.standing.append(Standing(army, place, piece))
                return True
        return False

    def _free(self, place: Place, army: int) -> bool:
        """Whether ground is free for an army; 2 for both."""
        return all(
            place.apart(other.place, _FRIENDS if other.army == army else _FOES)
            for other in self.standing
        )


def _at(army: int, x: float, back: float) -> tuple[float, float]:
    """A place so far from the middle line on an army's side."""
    return x, _MIDDLE + back if army else _MIDDLE - back


def _wishes(
    troop: Troop, army: int, distance: float, line: tuple[float, float], draws: Draws
) -> Iterator[tuple[tuple[float, float], int]]:
    """Fronts and facings for a unit, the likely ones first.

    Args:
        troop: the unit.
        army: its own, 0 or 1.
        distance: of its line from the middle of the table.
        line: where the line has its middle, and how far it reaches to each side.
        draws: the choices.
    """
    middle, spread = line
    ahead = 180 * army
    for attempt in range(3 * _TRIES):
        if troop.fleeing:
            back, facing = draws.inches(14.0, 18.0), 180 - ahead
            yield _at(army, draws.inches(6.0, WIDTH - 6.0), back), facing
            continue
        x = draws.inches(4.0, WIDTH - 4.0)
        if attempt < _TRIES:
            # Riders on the wings, all others between them.
            wing = troop.profile.troop == "cavalry"
            aside = draws.inches(spread - 6.0, spread) if wing else draws.inches(0.0, spread - 4.0)
            x = middle + (aside if draws.chance(50) else -aside)
        behind = troop.profile.troop == "war_machine"
        back = distance + draws.inches(0.0, 2.0) + (draws.inches(3.0, 6.0) if behind else 0.0)
        if attempt >= 2 * _TRIES:
            back = draws.inches(5.0, 18.0)
        yield _at(army, x, back), ahead + draws.pick(_TURNS)


def _near(
    leader: Leader, host: Host, army: int, distance: float, draws: Draws
) -> Iterator[tuple[tuple[float, float], int]]:
    """Fronts and facings for a lone character: beside a friend or behind him, else anywhere."""
    ahead = 180 * army
    friends = [troop for troop in host.troops if not (troop.engaged or troop.fleeing)]
    for attempt in range(2 * _TRIES):
        facing = ahead + draws.pick(_TURNS)
        if friends and attempt < _TRIES:
            friend = draws.pick(friends)
            reach = float(round(friend.extent[0] / 2 + leader.extent[0] / 2))
            side = draws.inches(1.0, 3.0) + reach
            x = friend.position[0] + (side if draws.chance(50) else -side)
            behind = draws.inches(0.0, 3.0)
            yield (x, friend.position[1] + (behind if army else -behind)), facing
        else:
            back = distance + draws.inches(-1.0, 6.0)
            yield _at(army, draws.inches(4.0, WIDTH - 4.0), back), facing
