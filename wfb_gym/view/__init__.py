"""What a battle looks like, in data and in words; everything that shows a battle reads it.

`position` has the view of a position, `choices` that of a decision, `odds` and `odds_sheet` the
chances of its dice, `events` what happened in a step. `names` and `effects` name what the engine's
numbers stand for. Nothing here is decided and nothing is drawn.
"""
