"""Encoding of positions and actions for agents: limits, observation layout, action codec."""
