"""Learners, and the commands that produced the shipped models."""
