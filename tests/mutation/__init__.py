"""Mutation testing: small changes to the sources, and whether the tests notice them."""
