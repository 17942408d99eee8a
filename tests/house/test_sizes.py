"""Every module opens with a line that says what lives there."""

from scripts.house import modules, undocumented


def test_every_module_has_a_docstring() -> None:
    found = modules()
    assert found
    assert undocumented(found) == []
