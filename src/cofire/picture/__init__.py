"""The graph as one HTML page."""
