"""The two seats of a battle, by name and by number."""

SEATS = ("caster", "dispeller")
"""Names of the seats by number: the roles of the armies in the first phase."""


def seat_number(seat: int | str) -> int:
    """Return the number of a seat, given as a name or a number.

    Args:
        seat: 0 or "caster", 1 or "dispeller".

    Raises:
        ValueError: the seat has another value.
    """
    if isinstance(seat, str) and seat in SEATS:
        return SEATS.index(seat)
    if not isinstance(seat, str) and seat in range(len(SEATS)):
        return int(seat)
    raise ValueError(f'seat: expected 0, 1, "caster" or "dispeller", found {seat!r}')
