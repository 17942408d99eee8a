"""The Neo4j store: the same memory on a server, called or awaited."""
