"""Tests of the engine, dice thrown by hand."""
