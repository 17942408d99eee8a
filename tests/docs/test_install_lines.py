"""The way to install cofire stands in one place, so that a publication changes one line."""

import re

from scripts.house import ROOT

INSTALLS_COFIRE = re.compile(r"(?:pip|uv|pipx) (?:tool )?install [^`\n]*(?:cofire|\.)(?:\[|\"|\'|$|\s)|uvx --from")


def test_only_the_readme_says_how_to_install() -> None:
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "plugins").rglob("*.json"))]
    lines = [
        f"{page.relative_to(ROOT)}: {line}"
        for page in pages
        for line in page.read_text(encoding="utf-8").splitlines()
        if INSTALLS_COFIRE.search(line)
    ]
    assert [line.split(" ", 1)[0] for line in lines] == ["README.md:"] * len(lines), "\n".join(lines)
    assert "README.md: pip install ." in lines
