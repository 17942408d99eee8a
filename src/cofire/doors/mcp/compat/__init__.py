"""The official MCP memory server's tools and file, on a cofire memory: for those who come from it."""
