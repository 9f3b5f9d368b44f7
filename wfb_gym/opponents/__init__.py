"""Scripted players that run inside the batch, chosen by an integer for each environment."""
