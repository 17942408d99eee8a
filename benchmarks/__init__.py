"""Benchmarks: programs that measure recall quality, speed and many processes on one file. Run from the root of the repository."""
