"""Where figures come from, which is told by `cofire.benching.provenance`."""

from cofire.benching.provenance import *  # noqa: F403
