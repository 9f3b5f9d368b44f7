"""Practice: puzzles from a player's own games, error ratings, and the history of these games.

`puzzles` turns the mistakes in a review into questions with hints. `rating` counts the points lost
per decision. `game_history` keeps games and their reviews in a folder. The terminal and the web UI
display them.
"""
