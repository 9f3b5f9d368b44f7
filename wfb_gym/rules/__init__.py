"""The rulebook, a module a chapter: pure functions of numbers.

Each function names its source: S0 is the 6th-edition summary of the magic phase, S2 the
7th-edition text on who owns which dice, S4 the 6th-edition text on casting; the head of
docs/rules.md has all of them. No randomness, no state of a game and no gymnasium in here.
"""
