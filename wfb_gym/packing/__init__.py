"""Packed scenarios: `pack` converts a scenario into the record array that the engine reads."""

from wfb_gym.packing.pack import pack

__all__ = ["pack"]
