"""Positions for the eye: as a picture (`picture`).

Nothing here decides what happens; libraries that draw are imported only where they are used.
"""
