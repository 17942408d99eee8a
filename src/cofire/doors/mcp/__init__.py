"""The door for agents that speak MCP: tools, resources, and the official memory server's tools for those who come from it."""
