"""Advice: the position that a player asks about, and the best play in it."""
