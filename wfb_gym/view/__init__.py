"""Views of a battle as data and text, for all renderers.

`position` has the view of a position, `choices` the view of a decision, `odds` and `odds_sheet` the
probabilities of dice rolls, and `events` the descriptions of steps. `names` and `effects` translate
the engine's numbers to words. This package contains no game rules and draws nothing.
"""
