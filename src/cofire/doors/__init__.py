"""Doors: the ways into memory from outside. They open it, ask it, and show what it says."""
