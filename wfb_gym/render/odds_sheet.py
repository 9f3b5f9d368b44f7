"""The sheet of an army's odds as one page of HTML: to print on A4, or to read on a phone.

It loads nothing, and every name in it is escaped.
"""

from collections.abc import Iterable, Mapping, Sequence
from html import escape

from wfb_gym.view.names import capital
from wfb_gym.view.odds import DISPEL_DICE, SpellOdds
from wfb_gym.view.odds_sheet import (
    MiscastOdds,
    OddsSheet,
    WizardOdds,
    dice_line,
    points_line,
    remark_of,
    title_of,
    wizard_line,
)

_STYLE = """
:root { --ink: #1f2328; --dim: #5d6670; --line: #d5d9de; --cast: 46, 111, 64; --stop: 158, 55, 40; }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 20px 16px 32px; max-width: 1080px; color: var(--ink);
  background: #fff; font: 15px/1.45 system-ui, "Segoe UI", "Liberation Sans", Arial, sans-serif; }
h1 { font: 600 1.75em/1.2 Georgia, "Liberation Serif", serif; margin: 0; }
h2 { font: 600 1.25em/1.25 Georgia, "Liberation Serif", serif; margin: 1.5em 0 0.2em;
  padding-top: 0.5em; border-top: 2px solid var(--ink); }
h3 { font-size: 1em; margin: 0; display: flex; justify-content: space-between; gap: 0 10px;
  flex-wrap: wrap; }
h3 b { font-weight: 600; }
p, ul { margin: 0.25em 0; }
ul { padding-left: 1.2em; }
.dim { color: var(--dim); font-size: 0.88em; }
.grid { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 430px), 1fr));
  gap: 18px 28px; margin-top: 0.9em; align-items: start; }
section.card { break-inside: avoid; min-width: 0; }
table { border-collapse: collapse; width: 100%; margin-top: 5px; font-size: 0.86em;
  font-variant-numeric: tabular-nums; }
th { font-weight: 500; color: var(--dim); text-align: right; padding: 1px 4px; }
td { text-align: right; padding: 2px 4px; border-top: 1px solid var(--line); }
th:first-child, td:first-child { text-align: left; white-space: nowrap; }
td.words, th.words { text-align: left; }
tr.best td { font-weight: 650; }
thead tr.group th { text-align: center; border-bottom: 1px solid var(--line); }
td.stop { width: 7.5%; }
.even td.stop { width: 14%; }
* { -webkit-print-color-adjust: exact; print-color-adjust: exact; }
@media (max-width: 480px) {
  body { padding: 14px 10px; }
  table { font-size: 0.8em; }
  th, td { padding: 2px; }
}
@media print {
  @page { size: A4; margin: 11mm; }
  body { padding: 0; max-width: none; font-size: 9.2pt; }
  .grid { grid-template-columns: 1fr 1fr; gap: 9px 18px; }
  h2 { margin-top: 0.9em; break-after: avoid; }
  td { padding: 1px 3px; }
}
"""
_BEST = ' class="best"'
_NONE = "&ndash;"
_NOTES = """\
Chances are in percent. Points: the chance to cast times what the spell brings, if nobody dispels; \
the row that brings most is bold. What goes on for several phases counts to the end of the battle.
Total: the mean result of casts that can be dispelled. Stopped by: the chance that so many dispel \
dice match such a cast. Irresistible force cannot be stopped.
Costs of miscasts count each hit and removal by itself, for the first wizard of that table; lost \
dice, spells and phases cost nothing there.\
"""


def html_of(sheet: OddsSheet) -> str:
    """Return the page."""
    title = f"{capital(sheet.army)} against {sheet.enemy}"
    parts = [f"<h1>{escape(title)}</h1>", _line(f"{sheet.scenario}: {dice_line(sheet)}.")]
    parts += [_line(note) for note in sheet.notes]
    parts.append(_items(sheet.items))
    for wizard in sheet.wizards:
        parts.append(_wizard(sheet, wizard))
    tables = "".join(_miscasts(name, rows) for name, rows in sheet.miscasts.items())
    parts.append(
        f'<h2>Miscasts and dispels</h2>\n<div class="grid">{tables}{_dispels(sheet)}</div>'
    )
    if sheet.enemy_items:
        parts.append(f"<h2>{escape(capital(sheet.enemy))} has</h2>")
        parts.append(_items(sheet.enemy_items))
    parts.append("<h2>How to read it</h2>")
    parts += [_line(note) for note in _NOTES.splitlines()]
    body = "\n".join(part for part in parts if part)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n"
        f"<body>\n{body}\n</body>\n</html>\n"
    )


def _line(words: str) -> str:
    return f'<p class="dim">{escape(words)}</p>'


def _items(items: Mapping[str, str]) -> str:
    """List items with what they do."""
    if not items:
        return ""
    rows = (f"<li><b>{escape(name)}</b>: {escape(words)}</li>" for name, words in items.items())
    return f"<ul>{''.join(rows)}</ul>"


def _wizard(sheet: OddsSheet, wizard: WizardOdds) -> str:
    cards = "".join(_spell(sheet, spell) for spell in wizard.spells)
    heading = f"<h2>{escape(wizard.name)}</h2>\n{_line(capital(wizard_line(wizard)) + '.')}"
    return f'{heading}{_items(wizard.items)}\n<div class="grid">{cards}</div>'


def _spell(sheet: OddsSheet, spell: SpellOdds) -> str:
    head = f"<h3><span>{escape(title_of(spell))}</span>"
    head += f"<b>{escape(points_line(sheet, spell))}</b></h3>"
    effect = _line(capital(spell.effect) + ".") if spell.effect else ""
    most = max(row.points for row in spell.casts)
    rows = []
    for row in spell.casts:
        cells = [_cell(str(row.dice or _NONE))]
        cells += [_share(row.cast, "cast"), _share(row.irresistible), _share(row.miscast)]
        cells += [_cell(f"{row.points:.1f}"), _cell(f"{row.total:.1f}" if row.total else _NONE)]
        cells += [_share(each, "stop") if row.total else _cell(_NONE) for each in row.stopped]
        is_best = row.points == most and len(spell.casts) > 1 and most > 0
        rows.append(f"<tr{_BEST if is_best else ''}>{''.join(cells)}</tr>")
    group = f'<tr class="group"><th colspan="6"></th><th colspan="{len(DISPEL_DICE)}">'
    group += "stopped by so many dice</th></tr>"
    names = ("dice", "cast", "irres.", "miscast", "points", "total", *map(str, DISPEL_DICE))
    return f'<section class="card">{head}{effect}{_table(names, rows, group)}</section>\n'


def _miscasts(name: str, rows: Sequence[MiscastOdds]) -> str:
    cells = [
        f"<tr>{_cell(row.roll)}{_share(row.chance)}{_cell(f'{row.points:.0f}')}"
        f'<td class="words">{escape(row.text)}</td></tr>'
        for row in rows
    ]
    table = _table(("roll", "chance", "costs"), cells, words="what happens")
    remark = _line(remark_of(rows)) if remark_of(rows) else ""
    head = f"<h3>Miscast table {escape(name)}</h3>{remark}"
    return f'<section class="card">{head}{table}</section>\n'


def _dispels(sheet: OddsSheet) -> str:
    rows = [
        f"<tr>{_cell(str(total))}{''.join(_share(each, 'stop') for each in chances)}</tr>"
        for total, chances in sheet.dispelling.items()
    ]
    group = f'<tr class="group"><th></th><th colspan="{len(DISPEL_DICE)}">dispel dice</th></tr>'
    table = _table(("total", *map(str, DISPEL_DICE)), rows, group)
    return f'<section class="card even"><h3>To dispel a total</h3>{table}</section>\n'


def _table(names: Iterable[str], rows: Iterable[str], group: str = "", words: str = "") -> str:
    """Return a table of these columns; `group` stands above them, a column of words behind."""
    heads = "".join(f"<th>{name}</th>" for name in names)
    heads += f'<th class="words">{words}</th>' if words else ""
    head = f"<thead>{group}<tr>{heads}</tr></thead>"
    return f"<table>{head}<tbody>{''.join(rows)}</tbody></table>"


def _cell(words: str) -> str:
    return f"<td>{words}</td>"


def _share(chance: float, colour: str = "") -> str:
    """Return a cell with a chance in percent, the darker the likelier where it has a colour."""
    if not colour:
        return _cell(f"{100 * chance:.0f}")
    look = f"background: rgba(var(--{colour}), {0.34 * chance:.2f})"
    kind = ' class="stop"' if colour == "stop" else ""
    return f'<td{kind} style="{look}">{100 * chance:.0f}</td>'
