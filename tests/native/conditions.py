"""What tests of compiled code need."""

import pytest

from cofire.index.native import IS_COMPILED

NEEDS_LIBRARY = pytest.mark.skipif(not IS_COMPILED, reason="the library is not built: python hatch_build.py builds it")
