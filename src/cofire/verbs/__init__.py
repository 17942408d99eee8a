"""Verbs: what memory can do, written once as generators that ask. The only place where storage and dynamics meet."""
