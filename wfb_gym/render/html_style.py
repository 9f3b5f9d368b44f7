"""The looks of the fragments of `html`: one style sheet, light and dark, for phone and desk."""

from wfb_gym.rules.dice import FACES

_LOW, _MID, _HIGH = 6.5, 12.0, 17.5
_CORNERS = ((_LOW, _LOW), (_HIGH, _HIGH))
_OTHERS = ((_HIGH, _LOW), (_LOW, _HIGH))
_SIDES = ((_LOW, _MID), (_HIGH, _MID))
_CENTRE = ((_MID, _MID),)
PIPS = {
    1: _CENTRE,
    2: _CORNERS,
    3: _CORNERS + _CENTRE,
    4: _CORNERS + _OTHERS,
    5: _CORNERS + _OTHERS + _CENTRE,
    FACES: _CORNERS + _OTHERS + _SIDES,
}
"""Centres of the pips on each face of a die 24 units wide."""

_LIGHT = """
  --paper: #f4f1ea; --card: #fffdf8; --ink: #26221e; --faded: #6b645a; --line: #ddd5c6;
  --blue: #2c5896; --red: #a0302c; --pale0: #e4ecf7; --pale1: #f8e6e3;
  --good: #17694a; --goodbg: #dcefe2; --warn: #8a4b08; --warnbg: #fbe9cf;
  --pending: #fcd882; --playing: #dacced; --bone: #fbf7ea; --pip: #2a2520; --gold: #f0be3c;
  --oops: #e2786e; --shadow: 0 1px 3px rgb(60 50 30 / .14);
"""
_DARK = """
  --paper: #16181c; --card: #1f2227; --ink: #ece8df; --faded: #a29b8e; --line: #363a42;
  --blue: #7ea9e6; --red: #e88b82; --pale0: #22304a; --pale1: #43282a;
  --good: #7fd3aa; --goodbg: #1e3b2e; --warn: #f0b66a; --warnbg: #43331c;
  --pending: #6d531a; --playing: #463a63; --bone: #efe9d8; --pip: #2a2520; --gold: #e2ae2a;
  --oops: #d0685e; --shadow: none;
"""

STYLE = (
    f":root {{ color-scheme: light dark; {_LIGHT} }}\n"
    f"@media (prefers-color-scheme: dark) {{ :root {{ {_DARK} }} }}\n"
    """
.wfb { color: var(--ink); font: 15px/1.45 system-ui, "Segoe UI", Roboto, Helvetica, Arial,
  sans-serif; -webkit-text-size-adjust: 100%; overflow-wrap: anywhere; }
.wfb *, .wfb *::before { box-sizing: border-box; }
.wfb h1, .wfb h2, .wfb h3, .wfb p, .wfb ul { margin: 0; padding: 0; }
.wfb h1 { font-size: 22px; line-height: 1.25; font-weight: 650; letter-spacing: -.01em; }
.wfb h2 { font-size: 16px; line-height: 1.3; font-weight: 650; margin-bottom: 8px; }
.wfb h3 { font-size: 15px; line-height: 1.3; font-weight: 650; }
.wfb small, .wfb .how { color: var(--faded); font-size: 13px; }
.wfb .card, .wfb .army { background: var(--card); border: 1px solid var(--line);
  border-radius: 10px; padding: 12px 14px; box-shadow: var(--shadow); min-width: 0; }
.wfb .a0 { --army: var(--blue); --pale: var(--pale0); }
.wfb .a1 { --army: var(--red); --pale: var(--pale1); }
.wfb .armies { display: grid; grid-template-columns: 1fr 1fr; gap: 12px; align-items: start; }
@media (max-width: 700px) { .wfb .armies { grid-template-columns: 1fr; } }

.wfb .army { border-top: 3px solid var(--army); }
.wfb .army header { display: flex; align-items: center; gap: 6px; flex-wrap: wrap; }
.wfb .army header h3 { color: var(--army); flex: 1; }
.wfb .badge, .wfb .tag { display: inline-block; font-size: 12px; line-height: 18px;
  padding: 0 7px; border-radius: 9px; background: var(--pale, var(--paper)); color: var(--ink);
  white-space: nowrap; }
.wfb .turn .badge:last-child { background: var(--army); color: var(--card); }
.wfb .tag { background: var(--paper); color: var(--faded); }
.wfb .tag.warn, .wfb .tag.played { background: var(--warnbg); color: var(--warn); }
.wfb .tag.best { background: var(--goodbg); color: var(--good); }
.wfb .pool { display: flex; align-items: center; flex-wrap: wrap; gap: 4px 10px; margin: 8px 0 2px;
  color: var(--faded); font-size: 13px; min-height: 26px; }
.wfb .dice { display: inline-flex; flex-wrap: wrap; gap: 3px; vertical-align: middle; }
.wfb .die { width: 26px; height: 26px; flex: none; display: block; }
.wfb .die { --top: color-mix(in srgb, var(--army, #888) 72%, white);
  --left: var(--army, #777); --right: color-mix(in srgb, var(--army, #666) 72%, black); }
#die-pool .top { fill: var(--top); } #die-pool .left { fill: var(--left); }
#die-pool .right { fill: var(--right); } #die-pool .pip { fill: #fffdf6; }
#die-pool path { stroke: var(--card); stroke-width: .6; stroke-linejoin: round; }
symbol .body { fill: var(--body, var(--bone)); stroke: #8c8270; stroke-width: 1; }
symbol circle { fill: var(--pip); }
.wfb .thrown .die { width: 28px; height: 28px; filter: drop-shadow(0 1px 1px rgb(0 0 0 / .25)); }
.wfb .die.six { --body: var(--gold); } .wfb .die.one { --body: var(--oops); }

.wfb .who { border-top: 1px solid var(--line); margin-top: 8px; padding-top: 8px; }
.wfb .who .line { display: flex; align-items: center; gap: 4px 8px; flex-wrap: wrap; }
.wfb .who.dead b { text-decoration: line-through; color: var(--faded); }
.wfb .wounds { display: inline-flex; gap: 3px; }
.wfb .wounds i { width: 9px; height: 9px; border-radius: 50%; border: 1px solid var(--army); }
.wfb .wounds i.on { background: var(--army); }
.wfb .spells { list-style: none; margin: 4px 0; display: grid; gap: 2px 6px;
  grid-template-columns: minmax(28px, auto) minmax(0, 1fr) auto auto; }
.wfb .spells li { display: grid; grid-template-columns: subgrid; grid-column: 1 / -1;
  padding: 3px 5px; border-radius: 6px; align-items: baseline; font-size: 14px;
  border-left: 3px solid transparent; }
.wfb .spells .value { font-variant-numeric: tabular-nums; font-weight: 650; white-space: nowrap; }
.wfb .spells .worth { color: var(--faded); font-variant-numeric: tabular-nums; font-size: 13px; }
.wfb .spells .status { font-size: 12px; color: var(--faded); text-align: right; grid-column: 4; }
.wfb .spells .open { background: var(--goodbg); border-left-color: var(--good); }
.wfb .spells .open .status { color: var(--good); }
.wfb .spells .pending { background: var(--pending); }
.wfb .spells .pending .status, .wfb .spells .playing .status { color: var(--ink); }
.wfb .spells .playing { background: var(--playing); }
.wfb .spells .spent, .wfb .spells .forgotten { opacity: .62; }
.wfb .spells .forgotten .name { text-decoration: line-through; }
.wfb .item { display: inline-block; border: 1px solid var(--line); border-radius: 6px;
  padding: 1px 8px; margin: 3px 4px 0 0; font-size: 13px; background: var(--paper); }
.wfb .item.used { text-decoration: line-through; color: var(--faded); opacity: .7; }
.wfb .units { border-top: 1px solid var(--line); margin-top: 8px; padding-top: 6px;
  display: grid; gap: 0 8px; grid-template-columns: minmax(0, 1fr) 72px auto auto; }
.wfb .unit { display: grid; grid-template-columns: subgrid; grid-column: 1 / -1;
  align-items: center; font-size: 14px; padding: 2px 0; }
.wfb .unit .bar { height: 7px; border-radius: 4px; background: var(--line); overflow: hidden; }
.wfb .unit .bar i { display: block; height: 100%; background: var(--army); }
.wfb .unit .count, .wfb .unit .lost { font-size: 13px; text-align: right; color: var(--faded);
  font-variant-numeric: tabular-nums; }
.wfb .unit .lost { color: var(--red); }
.wfb .unit.gone .name { text-decoration: line-through; color: var(--faded); }

.wfb .score { display: flex; gap: 8px; align-items: center; flex-wrap: wrap; }
.wfb .score .ahead { font-weight: 650; }
.wfb .score .a0, .wfb .score .a1 { color: var(--army); }
.wfb .step { border-left: 4px solid var(--army, var(--line)); padding: 2px 0 2px 10px; }
.wfb .step .dice { margin-top: 6px; }
.wfb .event { border-left: 3px solid var(--army); padding: 3px 0 3px 10px; margin: 4px 0;
  font-size: 14px; display: flex; gap: 4px 10px; align-items: center; flex-wrap: wrap; }
.wfb .event > span:last-child { flex: 1 1 180px; min-width: 0; }
.wfb .event.roll { border-left-style: dotted; }

.wfb table { border-collapse: collapse; width: 100%; font-size: 14px;
  font-variant-numeric: tabular-nums; }
.wfb th { font-size: 12px; font-weight: 600; color: var(--faded); text-align: right;
  padding: 2px 6px 4px; border-bottom: 1px solid var(--line); vertical-align: bottom; }
.wfb td { padding: 4px 6px; text-align: right; border-bottom: 1px solid var(--line); }
.wfb th, .wfb td { white-space: nowrap; overflow-wrap: normal; }
.wfb tr > :first-child { text-align: left; padding-left: 6px; white-space: normal;
  overflow-wrap: anywhere; width: 99%; }
.wfb tbody tr:last-child td { border-bottom: 0; }
.wfb tr.best td { background: var(--goodbg); }
.wfb td.loss i { display: block; height: 7px; border-radius: 4px; background: var(--oops); }
.wfb td.loss { min-width: 72px; }
.wfb .odds tr > :first-child { width: auto; }
.wfb .odds tr.most td { font-weight: 650; }
.wfb .odds caption { text-align: left; font-weight: 600; padding: 4px 6px; }
.wfb .odds th, .wfb .odds td { padding-left: 4px; padding-right: 4px; }
.wfb .sheets { display: grid; grid-template-columns: repeat(auto-fit, minmax(260px, 1fr));
  gap: 10px 18px; align-items: start; }
.wfb .how { margin-top: 6px; }
.wfb svg.battlefield { display: block; border-radius: 6px; }
@media (prefers-color-scheme: dark) { .wfb svg.battlefield { filter: brightness(.9); } }
.wfb :has(> .battlefield) { overflow-x: auto; }
.wfb .battlefield { min-width: 400px; }
.wfb .map .legal, .wfb .map .point { cursor: pointer; }
.wfb .error { color: var(--warn); background: var(--warnbg); border-radius: 6px;
  padding: 8px 12px; white-space: pre-wrap; font-size: 14px; }
"""
)
"""The style sheet."""
