"""Scoring, which lives in `cofire.benching.scoring`."""

from cofire.benching.scoring import *  # noqa: F403
