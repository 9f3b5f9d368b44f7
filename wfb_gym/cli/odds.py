"""``odds``: the odds of an army's spells, as a sheet to take to a game."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from wfb_gym.cli.output import align_columns, format_exact_points, print_json
from wfb_gym.cli.parser import Command, UsageError, check_folder, option, report_write_errors
from wfb_gym.seats import SEATS, seat_number

if TYPE_CHECKING:
    from wfb_gym.view.odds import SpellOdds
    from wfb_gym.view.odds_sheet import OddsSheet, WizardOdds

_DESCRIPTION = """\
Print the odds of an army. For each wizard, spell and number of dice: the chances to cast, of
irresistible force and of a miscast, the expected points, and the chance that dispel dice stop
the spell. Then follow the miscast tables and the chances to dispel."""
_EXAMPLES = """\
examples:
  python -m wfb_gym odds border-skirmish
  python -m wfb_gym odds border-skirmish --side dispeller --html sheet.html
      one page to print, or for the phone
"""


@dataclass(frozen=True)
class OddsOptions:
    """Options of ``odds``.

    Attributes:
        scenario: bundled name or file.
        side: army of the sheet.
        html: write a printable page to this file.
        json: print only JSON.
    """

    scenario: str = option(positional=True)
    side: str = option("caster", choices=SEATS)
    html: Path | None = option(None, metavar="FILE")
    json: bool = False


def _run(options: OddsOptions) -> None:
    from wfb_gym.scenario import load_scenario
    from wfb_gym.view.odds_sheet import odds_sheet

    if options.html is not None:
        check_folder("--html", options.html)
    try:
        scenario = load_scenario(options.scenario)
    except ValueError as error:
        raise UsageError(str(error)) from error
    try:
        sheet = odds_sheet(scenario, seat_number(options.side))
    except ValueError as error:
        raise UsageError(f"--side: {str(error).removeprefix('army: ')}") from error
    if options.html is not None:
        from wfb_gym.files import atomic_write_text

        try:
            from wfb_gym.render.odds_sheet import html_of
        except ImportError as error:
            raise UsageError(f"--html: {error}") from error
        with report_write_errors("--html", options.html):
            atomic_write_text(options.html, html_of(sheet))
    if options.json:
        print_json(asdict(sheet))
    elif options.html is not None:
        print(options.html)
    else:
        print("\n".join(_lines(sheet)))


COMMAND = Command(
    name="odds",
    help="the odds of an army's spells, as a sheet to take to a game",
    options=OddsOptions,
    run=_run,
    description=_DESCRIPTION,
    epilog=_EXAMPLES,
)


def _lines(sheet: "OddsSheet") -> list[str]:
    from wfb_gym.view.names import capital
    from wfb_gym.view.odds import DISPEL_DICE
    from wfb_gym.view.odds_sheet import dice_line, remark_of

    lines = [f"{sheet.scenario}: {sheet.army} against {sheet.enemy}", dice_line(sheet)]
    lines += [*sheet.notes, *(f"{name}: {words}" for name, words in sheet.items.items())]
    for wizard in sheet.wizards:
        lines += ["", *_wizard_lines(sheet, wizard)]
    for table, rows in sheet.miscasts.items():
        lines += ["", f"Miscast table {table}; lost dice, spells and phases cost no points here"]
        lines += [remark_of(rows)] if remark_of(rows) else []
        cells = [("ROLL", "CHANCE", "COSTS", "RESULT")]
        cells += [
            (row.roll, f"{row.chance:.1%}", format_exact_points(row.points), row.text)
            for row in rows
        ]
        lines += align_columns(cells, ">>><")
    lines += ["", "Chance to dispel a casting total, by number of dice"]
    heads = ("TOTAL", *map(str, DISPEL_DICE))
    chances = [
        (str(total), *(f"{chance:.0%}" for chance in row))
        for total, row in sheet.dispelling.items()
    ]
    lines += align_columns([heads, *chances], ">" * len(heads))
    if sheet.enemy_items:
        lines += ["", f"{capital(sheet.enemy)} has"]
        lines += [f"{name}: {words}" for name, words in sheet.enemy_items.items()]
    return lines


def _wizard_lines(sheet: "OddsSheet", wizard: "WizardOdds") -> list[str]:
    from wfb_gym.view.odds_sheet import wizard_line

    lines = [f"{wizard.name}: {wizard_line(wizard)}"]
    lines += [f"  {name}: {words}" for name, words in wizard.items.items()]
    for spell in wizard.spells:
        lines += ["", *_spell_lines(sheet, spell)]
    return lines


def _spell_lines(sheet: "OddsSheet", spell: "SpellOdds") -> list[str]:
    from wfb_gym.view.odds import DISPEL_DICE
    from wfb_gym.view.odds_sheet import points_line

    lines = [f"{spell.title}: {points_line(sheet, spell)}"]
    lines += [f"  {spell.effect}"] if spell.effect else []
    stopped = [f"STOPPED BY {n}" if n == 1 else str(n) for n in DISPEL_DICE]
    head = ("DICE", "CAST", "IRRESISTIBLE", "MISCAST", "POINTS", "TOTAL", *stopped)
    rows = [
        (
            str(row.dice or "-"),
            *(f"{chance:.1%}" for chance in (row.cast, row.irresistible, row.miscast)),
            format_exact_points(row.points),
            f"{row.total:.1f}" if row.total else "-",
            *(f"{chance:.0%}" if row.total else "-" for chance in row.stopped),
        )
        for row in spell.casts
    ]
    return lines + align_columns([head, *rows], ">" * len(head))
