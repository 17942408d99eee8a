"""Stores: the protocol, the rules that every store applies, SQLite and Neo4j."""
