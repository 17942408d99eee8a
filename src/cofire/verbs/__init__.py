"""What a memory can do besides recall: one verb or group of verbs a module."""
