"""Reading: what a text says: its words, names, subject, times, causes, phrases, tags. Pure functions by rules; models only as extras.

`rules.RuleReader` puts it together; `spacy.SpacyReader` and `llm.LlmReader` are other readers (see `base.Reader`).
"""
