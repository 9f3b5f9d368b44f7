"""A review as a single self-contained HTML file: the battle, position by position.

Parts of the page that several positions share are only written once; "review.js" assembles them.
"""

from collections.abc import Sequence
from typing import Any

from wfb_gym.engine.battle import Battle
from wfb_gym.render.battlefield import draw_battlefield, standing_pieces
from wfb_gym.render.drawing import to_svg
from wfb_gym.render.html import (
    army_blocks,
    event_html,
    render_macro,
    render_template,
    score_html,
    static_text,
    step_html,
    symbols_html,
    verdict_html,
)
from wfb_gym.scenario import Scenario
from wfb_gym.transcripts.review import NOTICED, Review, ReviewedAction, ReviewedDecision
from wfb_gym.view.position import view_position

_WIDE, _HIGH, _EDGE = 700, 130, 6  # width, height and margin of the curve
_MOST_CHOICES = 14  # maximum number of choices in a decision's table


def review_page(review: Review) -> str:
    """Write a review as a complete HTML document."""
    return render_template(
        "review_page.html",
        title=review.transcript.scenario.name,
        style=static_text("fragments.css", "review.css"),
        script=static_text("review.js"),
        symbols=symbols_html(),
        review=review_html(review),
    )


def review_html(review: Review) -> str:
    """Write a review as an HTML fragment for embedding in a page.

    The page must include "fragments.css", "review.css" and `symbols_html`, and run "review.js"
    after the fragment.
    """
    transcript, names = review.transcript, review.names
    return render_template(
        "review.html",
        title=transcript.scenario.name,
        players=transcript.players,
        armies=names.armies,
        point=names.point,
        dice="dice thrown by hand" if transcript.seed is None else f"seed {transcript.seed}",
        is_over=transcript.over,
        score=score_html(view_position(names, review.positions[-1])),
        summaries=[review.summary(army) for army in (0, 1)],
        worst=review.worst,
        noticed=f"{NOTICED:g}",
        curve=_curve(review),
        data=_data(review),
    )


def _curve(review: Review) -> dict[str, Any] | None:
    """Return the first army's expected result at each decision, as SVG paths."""
    points = [(each.event, each.expected) for each in review.forecasts]
    if review.transcript.over:
        points.append((len(review.events), review.transcript.points))
    if len(points) < 2:
        return None
    most = max(1.0, *(abs(value) for _, value in points))
    middle = _HIGH / 2

    def place(event: int, value: float) -> str:
        x = _EDGE + (_WIDE - 2 * _EDGE) * event / len(review.events)
        return f"{x:.1f} {middle - (middle - _EDGE) * value / most:.1f}"

    values = dict(points)
    return {
        "width": _WIDE,
        "height": _HIGH,
        "edge": _EDGE,
        "axis": (f"+{most:.0f}", "0", f"\N{MINUS SIGN}{most:.0f}"),
        "line": "L".join(place(*point) for point in points),
        "first": place(points[0][0], 0),
        "last": place(points[-1][0], 0),
        "dots": [
            (each, place(each.event, values[each.event]))
            for each in review.worst
            if each.event in values
        ],
        "remark": _remark(review),
    }


def _remark(review: Review) -> str:
    """Return a remark on estimates for the curve's caption, or "" if the curve is exact."""
    if all(each.is_exact for each in review.decisions if each.choices):
        return ""
    if review.transcript.scenario.has_hidden_items:
        return ". An estimate for a reader who learns hidden items when they are shown"
    if review.transcript.scenario.phases == 1:
        return ". An estimate"
    return (
        ". An estimate of this phase and of the resources left for later phases, "
        "so it jumps where a phase begins"
    )


def _data(review: Review) -> dict[str, Any]:
    """Return the script's data: all fragments, and for each position, which ones to use."""
    parts: dict[str, int] = {}

    def number_of(fragment: str) -> int:
        return parts.setdefault(fragment, len(parts))

    names, scenario = review.names, review.transcript.scenario
    verdicts = {each.event: each for each in review.decisions}
    frames, maps = [], dict[bytes, int]()
    last = len(review.events)
    for number, battle in enumerate(review.positions):
        standing = standing_pieces(battle)
        if standing not in maps:
            maps[standing] = number_of(_map(scenario, battle))
        view = view_position(names, battle)
        armies = [[number_of(block) for block in army_blocks(view, army)] for army in (0, 1)]
        frames.append(
            {
                "s": number_of(step_html(view)),
                "r": number_of(score_html(view)),
                "a": armies,
                "m": maps[standing],
                "v": number_of(_verdict(verdicts.get(number), is_end=number == last)),
            }
        )
    log = [number_of(event_html(event)) for event in review.events]
    lost = {each.event: round(each.lost, 2) for each in review.decisions if each.lost >= NOTICED}
    return {"parts": list(parts), "frames": frames, "log": log, "lost": lost}


def _map(scenario: Scenario, battle: Battle) -> str:
    if scenario.battlefield is None:
        return ""
    return render_macro("field", to_svg(draw_battlefield(scenario, battle, legend=False)))


def _verdict(decision: ReviewedDecision | None, *, is_end: bool) -> str:
    if is_end:
        return render_macro("remark", "The end", "Nothing more was played.")
    if decision is None:
        return render_macro("remark", "The dice decide", "Continue to see the result.")
    return verdict_html(decision, _listed(decision))


def _listed(decision: ReviewedDecision) -> Sequence[ReviewedAction]:
    """Return the choices to list: the best `_MOST_CHOICES` plus the action played."""
    ranked = sorted(decision.choices, key=lambda each: -each.value)
    return [each for place, each in enumerate(ranked) if place < _MOST_CHOICES or each.is_played]
