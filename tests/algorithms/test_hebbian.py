"""What use does to edges: bounded, monotone, and nothing that a user made becomes weaker."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as some

from cofire.algorithms import reinforcement
from cofire.stores.learning_rows import FeedbackCounts

shares = some.floats(0, 1)
steps = some.sampled_from([reinforcement.HEBBIAN_STEP, -reinforcement.HEBBIAN_STEP])


@given(shares, some.lists(steps, max_size=60))
def test_weight_and_confidence_stay_in_their_bounds(begun: float, taught: list[float]) -> None:
    weight: float | None = begun
    confidence: float | None = begun
    for step in taught:
        weight = reinforcement.adjust_weight(weight, step=step)
        confidence = reinforcement.adjust_confidence(confidence, step=step)
    assert weight is not None
    assert 0 <= weight <= 1
    assert confidence is not None
    assert min(begun, reinforcement.MIN_CONFIDENCE) <= confidence <= 1


@given(shares, shares, steps)
def test_what_was_stronger_is_not_weaker_after_the_same_lesson(one: float, other: float, step: float) -> None:
    low, high = sorted((one, other))
    assert (reinforcement.adjust_weight(low, step=step) or 0) <= (reinforcement.adjust_weight(high, step=step) or 0)
    assert (reinforcement.adjust_confidence(low, step=step) or 0) <= (
        reinforcement.adjust_confidence(high, step=step) or 0
    )


@given(shares)
def test_help_never_weakens_and_harm_never_strengthens(begun: float) -> None:
    for after in (reinforcement.adjust_weight, reinforcement.adjust_confidence):
        assert (after(begun, step=reinforcement.HEBBIAN_STEP) or 0) >= begun
        assert (after(begun, step=-reinforcement.HEBBIAN_STEP) or 0) <= begun


def test_documented_step_and_cap() -> None:
    """min(1.0, current + 0.05), of source 000."""
    assert reinforcement.adjust_weight(0.70, step=reinforcement.HEBBIAN_STEP) == 0.75
    assert reinforcement.adjust_weight(0.97, step=reinforcement.HEBBIAN_STEP) == 1.0


def test_what_was_never_said_of_an_edge() -> None:
    assert reinforcement.adjust_confidence(None, step=reinforcement.HEBBIAN_STEP) is None
    assert reinforcement.adjust_weight(None, step=-reinforcement.HEBBIAN_STEP) is None


@given(some.integers(0, 1_000), some.integers(0, 1_000))
def test_success_is_a_share_that_help_raises_and_harm_lowers(helped: int, hurt: int) -> None:
    success = FeedbackCounts(helped, hurt).success
    assert 0 < success < 1
    assert FeedbackCounts(helped + 1, hurt).success > success > FeedbackCounts(helped, hurt + 1).success
