"""A stand-in until the rules are written."""


def phrases(text: str) -> list[str]:
    return []
