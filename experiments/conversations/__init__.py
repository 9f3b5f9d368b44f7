"""Phases played by text, for `experiments.language_models`: the evaluation set and the models."""
