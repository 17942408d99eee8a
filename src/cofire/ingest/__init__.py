"""Readers of conversations and documents."""
