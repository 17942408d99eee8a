"""Dynamics: pure functions on numbers and arrays, each with its equation, source and a worked value. No I/O."""
