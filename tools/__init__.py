"""Generators for the documentation's pages, tables and figures."""
