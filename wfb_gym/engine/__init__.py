"""The magic phase as a state machine: states, legal actions, chance nodes and transitions.

Marks such as S0 in docstrings are chapters or sources of the ledger, docs/rules.md. To find the
exact rule and its tests, search docs/rules-tests.md for the function's name.
"""
