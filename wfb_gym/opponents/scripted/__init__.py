"""Scripted players, one module each. The player `all-in` is in the module `all_in.py`.

A module `NAME.py` contains one compiled function, also called `NAME`:

    NAME(packed, state, work, count) -> code of one of the `count` legal actions in `work.legal`

It draws no random numbers and leaves the state unchanged, so that the solver can evaluate the
player exactly. The first line of the module's docstring is the player's description in the
documentation. A new module is discovered on import: it becomes an opponent, an agent and a name on
the command line.
"""
