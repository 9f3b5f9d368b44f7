"""What measures: benchmark, tournament, exploitability, leaderboard."""

from wfb_gym import _commands

_commands.end_in_one_line()
