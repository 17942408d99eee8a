"""Stores: where facts are kept. The protocol is in `base`; `reference` defines what it means, the others do it durably."""
