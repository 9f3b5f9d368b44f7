"""Scenarios as typed arrays: `pack` makes of a scenario the record that the engine reads."""

from wfb_gym.packing.pack import pack

__all__ = ["pack"]
