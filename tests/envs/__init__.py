"""Tests of the Gymnasium environments."""
