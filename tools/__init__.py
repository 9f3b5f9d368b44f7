"""What makes pages, tables and figures of the documentation."""

from wfb_gym import _commands

_commands.install_handlers()
