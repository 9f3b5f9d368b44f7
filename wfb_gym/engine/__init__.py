"""The magic phase as a state machine: states, legal actions, chance nodes and transitions."""
