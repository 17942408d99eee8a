"""What the command line, the HTTP server, the MCP server and the HTML picture share."""
