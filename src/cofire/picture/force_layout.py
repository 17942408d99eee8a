"""Force-directed placement of nodes, without randomness.

Fruchterman and Reingold, "Graph drawing by force-directed placement" (1991): all nodes repel each other, links attract, and
steps become smaller.
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
# Texts and screens are wider than high.
ASPECT_RATIO = 1.4
# The work grows with the square of the nodes; this limits the pairs over all rounds.
MAX_PAIR_STEPS = 600_000
GRAVITY = 0.7
MAX_PUSH_ROUNDS = 120
BOX_GAP, MIN_DISTANCE = 8.0, 0.1

# A position: x is the real part, y the imaginary part.
Point = complex


@dataclass(frozen=True, slots=True)
class Box:
    """The area of a node and its text: half the width, and the extent above and below its position."""

    half: float
    up: float
    down: float


def place_nodes(count: int, links: Sequence[tuple[int, int]]) -> list[Point]:
    """Positions for nodes, with linked ones near each other. The first starts in the middle.

    >>> here, near, far = place_nodes(3, [(0, 1)])
    >>> abs(near - here) < abs(far - here)
    True
    """
    points = [_spiral_point(index) for index in range(count)]
    rounds = max(30, min(300, MAX_PAIR_STEPS // max(1, count**2)))
    for number in range(rounds):
        points = _apply_forces(points, links, max_step=LINK_LENGTH * (1 - number / rounds))
    return [complex(point.real * ASPECT_RATIO, point.imag) for point in points]


def separate_boxes(points: Sequence[Point], boxes: Sequence[Box]) -> list[Point]:
    """Move positions as little as needed, so that boxes do not overlap."""
    positions = list(points)
    for _ in range(MAX_PUSH_ROUNDS):
        moved = _push_boxes_apart(positions, boxes)
        if moved == positions:
            break
        positions = moved
    return positions


def _spiral_point(index: int) -> Point:
    """Sunflower spiral: evenly spread from the middle outward."""
    return cmath.rect(LINK_LENGTH * 0.6 * math.sqrt(index), index * GOLDEN_ANGLE)


def _apply_forces(points: Sequence[Point], links: Sequence[tuple[int, int]], *, max_step: float) -> list[Point]:
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
    return [point + _limit_force(force, max_step) for point, force in zip(points, forces, strict=True)]


def _limit_force(force: Point, max_step: float) -> Point:
    return force if abs(force) <= max_step else force * (max_step / abs(force))


def _push_boxes_apart(points: Sequence[Point], boxes: Sequence[Box]) -> list[Point]:
    """Move overlapping boxes apart, in the direction of the smaller overlap."""
    moved = list(points)
    for first, second in combinations(range(len(boxes)), 2):
        push = _overlap_shift(moved[first], boxes[first], moved[second], boxes[second])
        moved[first] -= push
        moved[second] += push
    return moved


def _overlap_shift(here: Point, box: Box, there: Point, other: Box) -> Point:
    """The shift of the second box, and in the opposite direction of the first, that removes their overlap.

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
