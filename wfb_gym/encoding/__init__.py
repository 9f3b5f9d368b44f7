"""Encoding of positions and actions for agents: limits, observation layouts, action codecs."""
