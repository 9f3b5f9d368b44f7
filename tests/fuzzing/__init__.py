"""Random attacks on what the project promises: `python -m tests.fuzzing`, or `make fuzz`.

An area is a kind of attack: a function that makes one case of a random generator, says in a word
how it ended, and raises if a promise was broken. `running` runs the areas in processes of their
own, so that crashes and hangs are found out too, and says how to repeat a case.
"""
