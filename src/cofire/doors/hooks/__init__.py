"""The door for coding agents that call hooks: recall before they think, remember after they spoke. Never in their way."""
