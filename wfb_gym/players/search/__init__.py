"""Agents that search from the position with the engine's own operations."""
