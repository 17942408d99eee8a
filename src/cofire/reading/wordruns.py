"""A stand-in until the rules are written."""


def ngrams(text: str) -> list[str]:
    return []
