"""The generator runtime: effects, the runner that answers them, sessions and background work."""
