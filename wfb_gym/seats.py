"""The two seats of a battle by name and by number."""

SEATS = ("caster", "dispeller")
"""Armies by the part they play in the first phase; a seat's index is its number."""


def seat_number(seat: int | str) -> int:
    """Return the number of a seat, given as a name or a number.

    Args:
        seat: 0 or "caster", 1 or "dispeller".

    Raises:
        ValueError: it is none of these.
    """
    if isinstance(seat, str) and seat in SEATS:
        return SEATS.index(seat)
    if not isinstance(seat, str) and seat in range(len(SEATS)):
        return int(seat)
    raise ValueError(f'seat: expected 0, 1, "caster" or "dispeller", found {seat!r}')
