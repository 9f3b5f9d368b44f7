"""How positions and actions look to an agent: sizes, observation layout, action codec."""
