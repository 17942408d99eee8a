"""Ingesting: conversations and documents become facts. Pure but for reading files; knows no store."""
