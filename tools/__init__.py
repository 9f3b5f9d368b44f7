"""What makes pages, tables and figures of the documentation."""

from experiments.extras import name_missing_extras
from wfb_gym import _commands

_commands.end_in_one_line()
name_missing_extras()
