"""Every knob acts: changing it changes a result, a count of work or a written value."""

from __future__ import annotations

import pytest

from cofire.settings.knobs import KNOBS
from tests.verbs.knob_proofs import GAPS, NONSENSE, PROOFS, judgement


@pytest.mark.parametrize("name", KNOBS)
def test_a_knob_acts(name: str, request: pytest.FixtureRequest) -> None:
    assert name in PROOFS, "say in knob_proofs what changes when it is changed"
    if name in GAPS:
        request.applymarker(pytest.mark.xfail(reason=GAPS[name]))
    proof = PROOFS[name]
    assert KNOBS[name].read(proof.value) != KNOBS[name].default
    assert proof.seen({**proof.given, name: proof.value}) != proof.seen(proof.given)


@pytest.mark.parametrize("name", ["fusion.method", "activation.dynamics", "abstention.rule"])
def test_every_choice_of_a_knob_acts(name: str) -> None:
    """Asked what some of the notes say and what none does, no two choices answer alike."""
    both = [PROOFS[name].seen, judgement(NONSENSE)]
    seen = [[look({name: choice}) for look in both] for choice in KNOBS[name].choices]
    assert all(one != other for place, one in enumerate(seen) for other in seen[:place])


@pytest.mark.parametrize("name", sorted({proof.seen: name for name, proof in PROOFS.items()}.values()))
def test_what_a_proof_looks_at_stays_the_same_when_nothing_is_changed(name: str) -> None:
    proof = PROOFS[name]
    assert proof.seen(proof.given) == proof.seen(proof.given)


def test_no_proof_outlives_its_knob() -> None:
    assert set(PROOFS) - set(KNOBS) == set()
    assert set(GAPS) - set(KNOBS) == set()
