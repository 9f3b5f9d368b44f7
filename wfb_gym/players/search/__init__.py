"""Search agents that use the engine as their model."""
