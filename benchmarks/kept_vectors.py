"""Vectors kept between runs, which live in `cofire.benching.kept_vectors`."""

from cofire.benching.kept_vectors import *  # noqa: F403
