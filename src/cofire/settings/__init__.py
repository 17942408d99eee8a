"""All settings: their table, sources, presets and the constants of the ranking."""
