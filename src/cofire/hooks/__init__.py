"""Hooks for coding agents."""
