"""Baseline agents behind one interface: `agents.interface.Agent`."""
