"""Reading: what a text says, by rules. Pure functions from text to words; no I/O, no models."""
