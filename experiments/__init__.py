"""Measurements: benchmark, tournament, exploitability, leaderboard and others."""
