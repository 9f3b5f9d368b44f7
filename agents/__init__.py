"""Learners, and the commands that made what is shipped."""
