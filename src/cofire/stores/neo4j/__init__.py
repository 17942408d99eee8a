"""The Neo4j store: the same protocol on a server."""
