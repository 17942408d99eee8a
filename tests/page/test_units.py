"""The parts of the page that need no browser: frames, layout, wording. Their tests are in web/tests and run under Node."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from tests.page.browsing import WEB


@pytest.mark.slow
@pytest.mark.skipif(
    not (shutil.which("npm") and (WEB / "node_modules" / "typescript").is_dir()),
    reason="There is no Node.js, or its packages are not installed: npm --prefix web ci",
)
def test_frames_layout_and_wording() -> None:
    ran = subprocess.run(["npm", "--prefix", str(WEB), "test"], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
