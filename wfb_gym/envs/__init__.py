"""Gymnasium environments over one batch: thin, no rule in them."""
