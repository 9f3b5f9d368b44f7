"""Builders, commands and page readers that tests of several folders share."""
