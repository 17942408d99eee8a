"""Text made safe for display, and scores as text: used by the terminal and by the HTML picture."""

from __future__ import annotations

SCORE_DECIMALS = 2

_CONTROL_PICTURES = {code: chr(0x2400 + code) for code in range(32) if chr(code) not in "\n\t"} | {127: "\u2421"}
_CONTROL_PICTURES |= dict.fromkeys(range(0x80, 0xA0), "\ufffd")


def escape_controls(text: str) -> str:
    """Replace control characters by visible symbols, so that text cannot steer a terminal. Line ends and tabs stay.

    >>> escape_controls("a\\x1b[2Jb")
    'a␛[2Jb'
    """
    return text.replace("\r\n", "\n").translate(_CONTROL_PICTURES)


def format_score(score: float, sign: str = "") -> str:
    """A score with two decimals, never "-0.00".

    >>> format_score(-0.001), format_score(1.234, "+")
    ('0.00', '+1.23')
    """
    return f"{round(score, SCORE_DECIMALS) + 0.0:{sign}.{SCORE_DECIMALS}f}"
