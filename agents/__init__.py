"""Learners, and the commands that trained the shipped models."""
