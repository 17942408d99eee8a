"""Settings: the table, the layers they are read from, presets, and the ranking constants."""
