"""Battles as data and text, for all renderers.

`position` describes a position as one viewer sees it, `choices` describes a decision, `odds` and
`odds_sheet` give the probabilities of dice rolls, and `events` describes steps. `names` and
`effects` put the engine's numbers into words. This package contains no game rules and draws
nothing.
"""
