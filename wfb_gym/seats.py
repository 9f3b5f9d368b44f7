"""The two seats in a battle, by name and by number."""

SEATS = ("caster", "dispeller")
"""Seat names, in order of seat number: the armies' roles in the first phase."""


def seat_number(seat: int | str) -> int:
    """Return the number of a seat given by name or number.

    Args:
        seat: 0 or "caster", 1 or "dispeller".

    Raises:
        ValueError: if the seat has any other value.
    """
    if isinstance(seat, str) and seat in SEATS:
        return SEATS.index(seat)
    if not isinstance(seat, str) and seat in range(len(SEATS)):
        return int(seat)
    raise ValueError(f'seat: expected 0, 1, "caster" or "dispeller", found {seat!r}')
