"""Learners, and the commands that made what is shipped."""

from wfb_gym import _commands

_commands.install_handlers()
