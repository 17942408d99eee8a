"""Force-directed placement of nodes (Fruchterman and Reingold 1991), without randomness.

Fruchterman and Reingold, "Graph drawing by force-directed placement" (1991): all repel one another, links pull, and steps become smaller.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

# Length of a link at rest, in the unit of the picture.
LINK_LENGTH = 160.0
GOLDEN_ANGLE = math.pi * (3 - math.sqrt(5))
# Texts are wider than high, and so are screens.
ASPECT_RATIO = 1.4
# Work grows with the square of the facts; so many pairs are looked at in all.
MAX_PAIR_STEPS = 600_000
GRAVITY = 0.7
MAX_PUSH_ROUNDS = 120
BOX_GAP, MIN_DISTANCE = 8.0, 0.1

# A place, x and y as one number.
Point = complex


@dataclass(frozen=True, slots=True)
class Box:
    """What a fact and its text cover: half the width, and how far up and down from its place."""

    half: float
    up: float
    down: float


def place_nodes(count: int, links: Sequence[tuple[int, int]]) -> list[Point]:
    """Where so many facts come to rest: linked ones near each other, the first in the middle at the start.

    >>> here, near, far = place_nodes(3, [(0, 1)])
    >>> abs(near - here) < abs(far - here)
    True
    """
    points = [_spiral_point(place) for place in range(count)]
    rounds = max(30, min(300, MAX_PAIR_STEPS // max(1, count**2)))
    for turn in range(rounds):
        points = _apply_forces(points, links, farthest=LINK_LENGTH * (1 - turn / rounds))
    return [complex(point.real * ASPECT_RATIO, point.imag) for point in points]


def separate_boxes(points: Sequence[Point], boxes: Sequence[Box]) -> list[Point]:
    """The same places, moved as little as is needed so that boxes do not lie on top of each other."""
    clear = list(points)
    for _ in range(MAX_PUSH_ROUNDS):
        moved = _push_boxes_apart(clear, boxes)
        if moved == clear:
            break
        clear = moved
    return clear


def _spiral_point(place: int) -> Point:
    """Seeds of a sunflower: the first in the middle, all evenly spread."""
    return cmath.rect(LINK_LENGTH * 0.6 * math.sqrt(place), place * GOLDEN_ANGLE)


def _apply_forces(points: Sequence[Point], links: Sequence[tuple[int, int]], *, farthest: float) -> list[Point]:
    forces = [-GRAVITY * point for point in points]
    for first, second in combinations(range(len(points)), 2):
        apart = points[first] - points[second] or complex(MIN_DISTANCE, MIN_DISTANCE)
        push = apart * (LINK_LENGTH / abs(apart)) ** 2
        forces[first] += push
        forces[second] -= push
    for first, second in links:
        apart = points[first] - points[second]
        pull = apart * abs(apart) / LINK_LENGTH
        forces[first] -= pull
        forces[second] += pull
    return [point + _limit_force(force, farthest) for point, force in zip(points, forces, strict=True)]


def _limit_force(force: Point, farthest: float) -> Point:
    return force if abs(force) <= farthest else force * (farthest / abs(force))


def _push_boxes_apart(points: Sequence[Point], boxes: Sequence[Box]) -> list[Point]:
    """Boxes that overlap give way to each other, in the direction in which the least is missing."""
    moved = list(points)
    for first, second in combinations(range(len(boxes)), 2):
        push = _overlap_shift(moved[first], boxes[first], moved[second], boxes[second])
        moved[first] -= push
        moved[second] += push
    return moved


def _overlap_shift(here: Point, box: Box, there: Point, other: Box) -> Point:
    """What the second must move, and the first in the other direction, so that the two no longer overlap.

    >>> box = Box(10, 10, 10)
    >>> _overlap_shift(0j, box, 18 + 0j, box), _overlap_shift(0j, box, 40j, box)
    ((5+0j), 0j)
    """
    across = box.half + other.half + BOX_GAP - abs(there.real - here.real)
    below = there.imag >= here.imag
    along = (box.down + other.up if below else box.up + other.down) + BOX_GAP - abs(there.imag - here.imag)
    if across <= 0 or along <= 0:
        return 0j
    if across < along:
        return complex(math.copysign(across / 2, there.real - here.real), 0)
    return complex(0, along / 2 if below else -along / 2)
