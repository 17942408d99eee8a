"""Lazy resources are created once, and again after a release."""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from cofire.embedders.base import LazyResource


def test_nothing_is_made_before_it_is_needed() -> None:
    made: list[int] = []
    needed = LazyResource(lambda: made.append(1) or object())
    assert made == []
    assert needed.get() is needed.get()
    assert made == [1]


def test_threads_get_the_same_thing() -> None:
    needed = LazyResource(lambda: time.sleep(0.02) or object())
    with ThreadPoolExecutor(8) as threads:
        assert len(set(threads.map(lambda _: needed.get(), range(8)))) == 1


def test_what_was_let_go_of_is_made_anew() -> None:
    needed = LazyResource(object)
    first = needed.get()
    assert needed.let_go() is first
    assert needed.let_go() is None
    assert needed.get() is not first


def test_a_failure_is_not_kept() -> None:
    tries = iter([ZeroDivisionError, None])

    def make() -> str:
        error = next(tries)
        if error:
            raise error
        return "made"

    needed = LazyResource(make)
    with pytest.raises(ZeroDivisionError):
        needed.get()
    assert needed.get() == "made"
