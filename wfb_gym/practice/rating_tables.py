"""Tables of error ratings: by seat, and by game."""

from collections.abc import Sequence

from wfb_gym.practice.game_history import SavedGame, rate_seats
from wfb_gym.practice.rating import ErrorRating, rate_decisions
from wfb_gym.seats import SEATS

CAPTION = """\
LOST: points per decision. Exact values and estimates are never averaged together.
EXACT: part of the decisions whose values are exact. ±: 95 % interval, from 10 decisions on."""
_COLUMNS = ("DECISIONS", "EXACT", "LOST (EXACT)", "LOST (ESTIMATED)")
_MOST_GAMES = 20  # maximum number of games in a table


def seat_table(games: Sequence[SavedGame]) -> list[tuple[str, ...]]:
    """Return a heading and a row for each seat and unit of points; [] without decisions."""
    seats = rate_seats(games)
    if not seats:
        return []
    by_unit = len({each.point for each in seats}) > 1
    rows: list[tuple[str, ...]] = [("SEAT", "GAMES", *_COLUMNS)]
    for each in seats:
        name = f"{each.seat}, {each.point}s" if by_unit else each.seat
        rows.append((name, str(each.games), *_cells(each.rating)))
    return rows


def game_table(games: Sequence[SavedGame]) -> list[tuple[str, ...]]:
    """Return a heading and a row for each of the latest games with decisions."""
    rows: list[tuple[str, ...]] = [("PLAYED (UTC)", "SCENARIO", "SEAT", "AGAINST", *_COLUMNS)]
    for game in [each for each in games if each.losses][:_MOST_GAMES]:
        cells = _cells(rate_decisions(game.losses))
        rows.append((f"{game.played_at:%Y-%m-%d %H:%M}", *_game_cells(game), *cells))
    return rows


def _cells(rating: ErrorRating) -> tuple[str, ...]:
    share = f"{rating.exact_share:.0%}" if rating.decisions else "-"
    return str(rating.decisions), share, rating.exact.words, rating.estimated.words


def _game_cells(game: SavedGame) -> tuple[str, str, str]:
    """Return a game's scenario, the player's seat and the enemy's name."""
    scenario, players = game.transcript.scenario.name, game.transcript.players
    if game.army is None:
        return scenario, "both", " and ".join(players)
    return scenario, SEATS[game.army], players[1 - game.army]
