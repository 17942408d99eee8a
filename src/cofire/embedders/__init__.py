"""Embedders: from texts to unit vectors. Each is a small class behind the protocol in `base`; nothing here knows of stores."""
