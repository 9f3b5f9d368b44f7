"""Tests of the players who sit opposite the learner."""
