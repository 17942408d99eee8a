"""Evaluation sets, which live in `cofire.benching.evaluation_sets`."""

from cofire.benching.evaluation_sets import *  # noqa: F403
