"""Tests of the engine with scripted dice."""
