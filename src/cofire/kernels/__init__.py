"""Kernels: compiled twins of the array functions that a recall spends most of its time in. What they compute stands in Python too."""
