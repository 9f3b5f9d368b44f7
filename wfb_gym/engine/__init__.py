"""The phase as a state machine: packed state, legal actions, act, chance, sample."""
