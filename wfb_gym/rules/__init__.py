"""The rulebook as pure functions of numbers, with one module per chapter.

Each function cites its source: S0 is the 6th-edition summary of the magic phase, S2 the
7th-edition text on wizards' and armies' dice, and S4 the 6th-edition text on casting.
docs/rules.md lists all sources. This package has no randomness, no game state and no dependency on
Gymnasium.
"""
