"""Agents with a common interface, `wfb_gym.players.interface.Agent`."""
