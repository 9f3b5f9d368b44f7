"""Tests of limits, observations and actions as agents see them."""
