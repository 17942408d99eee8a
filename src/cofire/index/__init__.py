"""The in-memory index: columns, postings, quantised vectors, adjacency, snapshots, and the native code."""
