"""What measures: benchmark, tournament, exploitability, leaderboard."""

from wfb_gym import _commands

_commands.install_handlers()
