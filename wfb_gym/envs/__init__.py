"""Gymnasium environments: thin wrappers around `batch.Batch`, without any game rules."""
