"""Advice: the position described by a player, and the best play in it."""
