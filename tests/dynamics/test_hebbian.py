"""What use does to edges: bounded, monotone, and nothing that a user made becomes weaker."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as some

from cofire.dynamics import hebbian
from cofire.learned import Use

shares = some.floats(0, 1)
steps = some.sampled_from([hebbian.STEP, -hebbian.STEP])


@given(shares, some.lists(steps, max_size=60))
def test_weight_and_confidence_stay_in_their_bounds(begun: float, taught: list[float]) -> None:
    weight: float | None = begun
    confidence: float | None = begun
    for step in taught:
        weight = hebbian.weight_after(weight, step=step)
        confidence = hebbian.confidence_after(confidence, step=step)
    assert weight is not None
    assert 0 <= weight <= 1
    assert confidence is not None
    assert min(begun, hebbian.LEAST_CONFIDENCE) <= confidence <= 1


@given(shares, shares, steps)
def test_what_was_stronger_is_not_weaker_after_the_same_lesson(one: float, other: float, step: float) -> None:
    low, high = sorted((one, other))
    assert (hebbian.weight_after(low, step=step) or 0) <= (hebbian.weight_after(high, step=step) or 0)
    assert (hebbian.confidence_after(low, step=step) or 0) <= (hebbian.confidence_after(high, step=step) or 0)


@given(shares)
def test_help_never_weakens_and_harm_never_strengthens(begun: float) -> None:
    for after in (hebbian.weight_after, hebbian.confidence_after):
        assert (after(begun, step=hebbian.STEP) or 0) >= begun
        assert (after(begun, step=-hebbian.STEP) or 0) <= begun


def test_documented_step_and_cap() -> None:
    """min(1.0, current + 0.05), of source 000."""
    assert hebbian.weight_after(0.70, step=hebbian.STEP) == 0.75
    assert hebbian.weight_after(0.97, step=hebbian.STEP) == 1.0


def test_what_was_never_said_of_an_edge() -> None:
    assert hebbian.confidence_after(None, step=hebbian.STEP) is None
    assert hebbian.weight_after(None, step=-hebbian.STEP) is None


@given(some.integers(0, 1_000), some.integers(0, 1_000))
def test_success_is_a_share_that_help_raises_and_harm_lowers(helped: int, hurt: int) -> None:
    success = Use(helped, hurt).success
    assert 0 < success < 1
    assert Use(helped + 1, hurt).success > success > Use(helped, hurt + 1).success
