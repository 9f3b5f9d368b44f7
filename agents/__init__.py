"""Learners, and the commands that made what is shipped."""

from experiments.extras import name_missing_extras
from wfb_gym import _commands

_commands.end_in_one_line()
name_missing_extras()
