"""Scripted players that run inside the batch, selected by an integer for each environment."""
