"""The SQLite store: one file, shared by any number of processes."""
