"""The embedded store: one SQLite file through apsw, shared by any number of processes, with an index in memory."""
