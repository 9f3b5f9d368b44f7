"""Battles for the eye: in text (`ansi`), and as a picture (`picture`).

Nothing here decides what happens. A module a kind, imported when it is used.
"""
