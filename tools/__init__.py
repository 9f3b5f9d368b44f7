"""Generators of the documentation's pages, tables and figures."""
