"""Adapters to other libraries, one small module each, imported only on use."""
