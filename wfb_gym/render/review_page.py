"""A review as one HTML file that opens without a server: the battle, position by position.

Parts of the page that stay as they were from one position to the next are written once, and a
small script puts them together. What they look like is in `html`.
"""

import json
from collections.abc import Sequence
from html import escape
from typing import Any

from wfb_gym.engine.battle import Battle
from wfb_gym.render.battlefield import draw_battlefield
from wfb_gym.render.drawing import to_svg
from wfb_gym.render.html import (
    SYMBOLS,
    army_blocks,
    choices_html,
    event_html,
    score_html,
    step_html,
)
from wfb_gym.render.html_style import STYLE
from wfb_gym.scenario import Scenario
from wfb_gym.transcripts.review import NOTICED, Review, ReviewedDecision
from wfb_gym.view.names import plural_points

_WIDE, _HIGH, _EDGE = 700, 130, 6
"""Size of the curve, and its margin."""
_ON_THE_MAP = ("unit_wounds", "wounds", "fleeing")
"""What of a position changes the battlefield."""
_MOST_CHOICES = 14
"""Choices of a decision that are listed."""


class _Parts:
    """Fragments, each kept once."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def number(self, fragment: str) -> int:
        return self._numbers.setdefault(fragment, len(self._numbers))

    @property
    def all(self) -> list[str]:
        return list(self._numbers)


def review_page(review: Review) -> str:
    """Write a review as a whole HTML document; see the module."""
    title = escape(f"{review.transcript.scenario.name}: review")
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>{STYLE}{PAGE_STYLE}</style></head>\n"
        f'<body class="wfb-page">{SYMBOLS}<main class="wfb">{review_html(review)}</main>\n'
        f"<script>{SCRIPT}</script></body></html>\n"
    )


def review_html(review: Review) -> str:
    """Write a review as a part of a page.

    The page has `html_style.STYLE`, `PAGE_STYLE` and `html.SYMBOLS`, and runs `SCRIPT` once the
    part is in it.
    """
    data = json.dumps(_data(review), ensure_ascii=False, separators=(",", ":"))
    data = data.replace("<", "\\u003c").replace("&", "&amp;")
    last = len(review.positions) - 1
    return f"""<div class="wfb-review">
{_heading(review)}
<div class="summary">{"".join(_seat(review, army) for army in (0, 1))}{_worst(review)}</div>
{_curve(review)}
<div class="card replay">
<div class="controls">
<button type="button" data-step="-1" aria-label="one back">&#9664;</button>
<input type="range" min="0" max="{last}" value="0" aria-label="position">
<button type="button" data-step="1" aria-label="one on">&#9654;</button>
<span class="place"></span></div>
<div class="now"></div></div>
<div class="columns"><div class="left"><div class="map"></div>
<div class="armies"><section class="army a0"></section><section class="army a1"></section></div>
</div><div class="right"><div class="card verdict"></div>
<div class="card"><h2>What happened</h2><ol class="log"></ol></div></div></div>
<div class="data" hidden>{data}</div>
</div>"""


def _heading(review: Review) -> str:
    transcript, names = review.transcript, review.names
    scenario = transcript.scenario
    players = [
        f'<b class="a{army}">{escape(names.armies[army])}</b> ({escape(player)})'
        for army, player in enumerate(transcript.players)
    ]
    dice = "dice thrown by hand" if transcript.seed is None else f"seed {transcript.seed}"
    broken = "" if transcript.over else ", not over"
    return (
        f"<h1>{escape(scenario.name)}</h1><p class='sub'>{' against '.join(players)}, "
        f"{dice}{broken}</p>{score_html(names, review.positions[-1])}"
    )


def _seat(review: Review, army: int) -> str:
    name, lost = escape(review.names.armies[army]), review.lost_by(army)
    own = [each for each in review.decisions if each.army == army and each.choices]
    about = "" if all(each.is_exact for each in own) else "about "
    number = f"{about}{plural_points(lost)} given away"
    return (
        f'<section class="card a{army} seat"><h2>{name[:1].upper()}{name[1:]}</h2>'
        f"<div class='number'>{number}</div><small>{escape(review.summary(army))}</small></section>"
    )


def _worst(review: Review) -> str:
    rows = [
        f'<li><a href="#{each.event}" data-go="{each.event}" class="a{each.army}">'
        f"{escape(_who(review, each))}</a> {escape(each.words)}</li>"
        for each in review.worst
    ]
    body = f"<ol>{''.join(rows)}</ol>" if rows else "<p>Nobody gave anything away.</p>"
    return f'<section class="card worst"><h2>The worst decisions</h2>{body}</section>'


def _who(review: Review, decision: ReviewedDecision) -> str:
    return f"{decision.event + 1}. {review.names.armies[decision.army]}:"


def _curve(review: Review) -> str:
    """Draw what the first army could expect in the end, decision by decision."""
    points = [(each.event, each.expected) for each in review.outlooks]
    if review.transcript.over:
        points.append((len(review.events), review.transcript.points))
    if len(points) < 2:
        return ""
    most = max(1.0, *(abs(value) for _, value in points))
    right = len(review.events)
    middle = _HIGH / 2

    def place(event: int, value: float) -> str:
        x = _EDGE + (_WIDE - 2 * _EDGE) * event / right
        return f"{x:.1f} {middle - (middle - _EDGE) * value / most:.1f}"

    line = "L".join(place(*point) for point in points)
    area = f"M{place(points[0][0], 0)}L{line}L{place(points[-1][0], 0)}Z"
    worst = "".join(
        f'<path class="dot a{each.army}" data-go="{each.event}" d="M{place(event, value)}h.01">'
        f"<title>{escape(each.words)}</title></path>"
        for each in review.worst
        for event, value in points
        if event == each.event
    )
    name = escape(review.names.armies[0])
    return (
        f'<figure class="card curve"><figcaption><h2>Expected result for {name}</h2>'
        f"<small>between &minus;{most:.0f} and +{most:.0f} {review.names.point}s; dots are the "
        f"worst decisions, click to go there{_about_estimates(review)}</small></figcaption>"
        f'<svg viewBox="0 0 {_WIDE} {_HIGH}" preserveAspectRatio="none" role="img" '
        f'aria-label="expected result"><path class="area" d="{area}"/>'
        f'<path class="zero" d="M0 {middle}H{_WIDE}"/><path class="line" d="M{line}"/>'
        f'<path class="cursor" d="M0 0V{_HIGH}"/>{worst}</svg></figure>'
    )


def _about_estimates(review: Review) -> str:
    """Say why the curve may jump where a phase begins, if it is estimated."""
    if all(each.is_exact for each in review.decisions if each.choices):
        return ""
    if review.transcript.scenario.has_secrets:
        return ". An estimate, for who knows hidden items once they are shown"
    return (
        ". An estimate: this phase, and what it leaves for those to come, "
        "so it jumps where one begins"
    )


def _data(review: Review) -> dict[str, Any]:
    """Return what the script needs: fragments, and by position which of them are shown."""
    parts = _Parts()
    names, scenario = review.names, review.transcript.scenario
    verdicts = {each.event: each for each in review.decisions}
    frames, maps = [], dict[bytes, int]()
    last = len(review.events)
    for number, battle in enumerate(review.positions):
        over = "<h2>The end</h2><p class='how'>Nothing more was played.</p>"
        verdict = over if number == last else _verdict(verdicts.get(number))
        standing = b"".join(battle.state[name].tobytes() for name in _ON_THE_MAP)
        if standing not in maps:
            maps[standing] = parts.number(_map(scenario, battle))
        armies = [
            [parts.number(block) for block in army_blocks(names, battle, army, None)]
            for army in (0, 1)
        ]
        frames.append(
            {
                "s": parts.number(step_html(names, battle)),
                "r": parts.number(score_html(names, battle)),
                "a": armies,
                "m": maps[standing],
                "v": parts.number(verdict),
            }
        )
    log = [parts.number(event_html(event)) for event in review.events]
    lost = {each.event: round(each.lost, 2) for each in review.decisions if each.lost >= NOTICED}
    return {"parts": parts.all, "frames": frames, "log": log, "lost": lost}


def _map(scenario: Scenario, battle: Battle) -> str:
    if scenario.battlefield is None:
        return ""
    svg = to_svg(draw_battlefield(scenario, battle, legend=False))
    return f'<div class="card field">{svg}</div>'


def _verdict(decision: ReviewedDecision | None) -> str:
    if decision is None:
        return "<h2>The dice decide</h2><p class='how'>Go on to see how they fall.</p>"
    if not decision.choices:
        return f"<h2>Decision</h2><p>{escape(decision.words)}</p>"
    about = "" if decision.is_exact else "about "
    kind = "mistake" if decision.lost >= NOTICED else "fine"
    table = choices_html(_shown(decision), decision.method, decision.is_exact)
    total = f"{about}{plural_points(decision.total)} given away so far by this side"
    total = total[:1].upper() + total[1:]
    return (
        f'<h2>Decision</h2><p class="{kind}">{escape(decision.words)}</p>{table}'
        f"<p class='how'>{total}.</p>"
    )


def _shown(decision: ReviewedDecision) -> Sequence[Any]:
    """Return the choices that are listed: all, or the best of very many and what was played."""
    ranked = sorted(decision.choices, key=lambda each: -each.value)
    return [each for place, each in enumerate(ranked) if place < _MOST_CHOICES or each.is_played]


PAGE_STYLE = """
body.wfb-page { margin: 0; background: var(--paper); }
body.wfb-page > .wfb { max-width: 1360px; margin: 0 auto; padding: 18px 20px 40px; }
@media (max-width: 700px) { body.wfb-page > .wfb { padding: 14px 10px 30px; } }
.wfb-review > * { margin-bottom: 12px; }
.wfb-review > h1 { margin-bottom: 2px; }
.wfb-review .sub { color: var(--faded); margin-bottom: 8px; }
.wfb-review .sub b { color: var(--army); }
.wfb-review .summary { display: grid; grid-template-columns: 1fr 1fr 2fr; gap: 12px; }
.wfb-review .seat { border-top: 3px solid var(--army); }
.wfb-review .seat h2 { color: var(--army); margin-bottom: 2px; }
.wfb-review .seat .number { font-size: 17px; font-weight: 650; }
.wfb-review .worst ol { margin: 0; padding-left: 0; list-style: none; }
.wfb-review .worst li { padding: 3px 0; font-size: 14px; }
.wfb-review a { color: var(--army); font-weight: 600; }
.wfb-review .curve { margin-left: 0; margin-right: 0; }
.wfb-review .curve svg { width: 100%; height: 110px; display: block; margin-top: 6px; }
.wfb-review .curve .line { fill: none; stroke: var(--ink); stroke-width: 1.5;
  vector-effect: non-scaling-stroke; }
.wfb-review .curve .area { fill: var(--line); opacity: .55; }
.wfb-review .curve .zero { stroke: var(--faded); stroke-dasharray: 3 4;
  vector-effect: non-scaling-stroke; }
.wfb-review .curve .cursor { stroke: var(--good); stroke-width: 2;
  vector-effect: non-scaling-stroke; }
.wfb-review .curve .dot { stroke: var(--army); stroke-width: 11; stroke-linecap: round;
  vector-effect: non-scaling-stroke; cursor: pointer; }
.wfb-review .replay { position: sticky; top: 0; z-index: 2; }
.wfb-review .controls { display: flex; gap: 10px; align-items: center; }
.wfb-review .controls input { flex: 1; min-width: 0; accent-color: var(--blue); height: 28px; }
.wfb-review .controls button { width: 40px; height: 34px; border-radius: 8px; cursor: pointer;
  border: 1px solid var(--line); background: var(--paper); color: var(--ink); font-size: 13px; }
.wfb-review .place { color: var(--faded); font-size: 13px; font-variant-numeric: tabular-nums;
  white-space: nowrap; }
.wfb-review .now { display: grid; grid-template-columns: 1fr 1fr; gap: 4px 20px; margin-top: 8px; }
.wfb-review .columns { display: grid; grid-template-columns: minmax(0, 3fr) minmax(0, 2fr);
  gap: 12px; align-items: start; }
.wfb-review .left, .wfb-review .right { display: grid; grid-template-columns: minmax(0, 1fr);
  gap: 12px; }
.wfb-review .map:empty { display: none; }
.wfb-review .mistake { color: var(--warn); font-weight: 600; margin-bottom: 8px; }
.wfb-review .fine { color: var(--good); font-weight: 600; margin-bottom: 8px; }
.wfb-review .log { list-style: none; margin: 0; padding: 0; max-height: 420px; overflow: auto; }
.wfb-review .log li { cursor: pointer; border-radius: 6px; padding: 0 4px; }
.wfb-review .log li.here { background: var(--paper); }
.wfb-review .log li.to-come { opacity: .45; }
.wfb-review .log .gave { color: var(--warn); font-size: 12px; padding-left: 13px; }
@media (max-width: 980px) {
  .wfb-review .columns { grid-template-columns: minmax(0, 1fr); }
  .wfb-review .right { order: -1; }
  .wfb-review .summary { grid-template-columns: 1fr 1fr; }
  .wfb-review .worst { grid-column: 1 / -1; }
}
@media (max-width: 700px) {
  .wfb-review .now { grid-template-columns: minmax(0, 1fr); }
  .wfb-review .replay { padding: 8px 10px; }
  .wfb-review .now .event { margin: 0; }
  .wfb-review .mixed :is(th, td):last-child { display: none; }
}
"""
"""Looks of what only a review has."""

SCRIPT = r"""
for (const root of document.querySelectorAll(".wfb-review:not([data-ready])")) {
  root.dataset.ready = "1";
  const data = JSON.parse(root.querySelector(".data").textContent);
  const find = (what) => root.querySelector(what);
  const slider = find("input"), last = data.frames.length - 1;
  const part = (number) => data.parts[number];
  const log = find(".log");
  log.innerHTML = data.log.map((number, event) => {
    const lost = data.lost[event] ? `<div class="gave">gave away ${data.lost[event]}</div>` : "";
    return `<li data-go="${event}">${part(number)}${lost}</li>`;
  }).join("");
  const armies = root.querySelectorAll(".armies .army"), cursor = find(".cursor");
  function show(number) {
    const at = Math.max(0, Math.min(last, number)), frame = data.frames[at];
    slider.value = at;
    root.dataset.at = at;
    find(".place").textContent = at < last ? `${at + 1} of ${last}` : "end";
    const before = at ? part(data.log[at - 1]) : "<p class='how'>The battle begins.</p>";
    find(".now").innerHTML = `<div>${before}</div><div>${part(frame.s)}${part(frame.r)}</div>`;
    armies.forEach((army, k) => { army.innerHTML = frame.a[k].map(part).join(""); });
    find(".map").innerHTML = part(frame.m);
    find(".verdict").innerHTML = part(frame.v);
    [...log.children].forEach((item, event) => {
      item.classList.toggle("here", event === at);
      item.classList.toggle("to-come", event >= at);
    });
    const here = log.children[Math.min(at, last - 1)];
    if (here) log.scrollTop = here.offsetTop - log.offsetTop - log.clientHeight / 2;
    if (cursor) cursor.setAttribute("transform", `translate(${EDGE + WIDTH * at / last} 0)`);
  }
  slider.addEventListener("input", () => show(Number(slider.value)));
  root.addEventListener("click", (event) => {
    const step = event.target.closest("[data-step]"), go = event.target.closest("[data-go]");
    if (step) show(Number(slider.value) + Number(step.dataset.step));
    if (go) { event.preventDefault(); show(Number(go.dataset.go)); }
  });
  root.addEventListener("keydown", (event) => {
    if (event.target === slider) return;
    if (event.key === "ArrowRight") show(Number(slider.value) + 1);
    if (event.key === "ArrowLeft") show(Number(slider.value) - 1);
  });
  show(0);
}
"""
"""Puts a position together from its parts, and follows slider, buttons and links."""
SCRIPT = SCRIPT.replace("EDGE", str(_EDGE)).replace("WIDTH", str(_WIDE - 2 * _EDGE))
