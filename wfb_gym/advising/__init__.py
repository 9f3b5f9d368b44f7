"""Advice: the position that a player describes, and the best play in it."""
