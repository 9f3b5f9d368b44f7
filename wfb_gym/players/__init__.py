"""Baseline agents behind one interface: `wfb_gym.players.interface.Agent`."""
