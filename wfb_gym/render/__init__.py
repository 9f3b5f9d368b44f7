"""Battles for the eye: in text (`ansi`), as a picture (`picture`), and where they are fought.

`battlefield` returns the latter as plain shapes, which `drawing` writes as SVG or as an image.
Nothing here decides what happens. A module a kind, imported when it is used.
"""
