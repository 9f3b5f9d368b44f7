"""Search agents, which use the engine as their model."""
