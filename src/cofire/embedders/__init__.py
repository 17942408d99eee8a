"""Embedders: bundled, local and remote models."""
