"""The scene as an inline SVG: dots with numbers and texts, links between them. Colours and fonts are the page's business."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from html import escape
from textwrap import wrap

from rich.cells import cell_len

from cofire.doors.cli.layout import clipped
from cofire.doors.cli.screen import harmless
from cofire.doors.picture.placing import Box, Point, cleared, settled
from cofire.doors.picture.scene import CommunityKey, Dot, Scene, Stroke
from cofire.xray import counted

# Colours of communities; the page has as many, and one for all the others.
COLOURS = 8
DASHES = ("", "7 4", "2 4", "10 3 2 3", "14 5", "1 7", "12 3 2 3 2 3", "4 9")
# With more facts than these, texts of neighbours show only where the pointer is.
MOST_TEXTS = 48
BIG, SMALL, RING = 17.0, 12.0, 5.0
LINE_HEIGHT, LETTER_WIDTH = 15.0, 6.9
TEXT_WIDTH, TEXT_LINES = 26, 2
MARGIN = 40.0
LEAST_WIDTH, LEAST_HEIGHT = 900.0, 420.0
BEND = 13.0
# A text should stand clear of a link that won, whatever the others do.
WON_COUNTS = 4.0
# Where the name of a link may stand, from its beginning to its end.
ALONG = (0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74)
# Between the tip of an arrow and the dot that it points to.
TIP = 3.0
LONGEST_TEXT = 600
_TIP = (
    '<defs><marker id="tip" viewBox="0 0 10 10" refX="8" refY="5" markerWidth="12" markerHeight="12" '
    'markerUnits="userSpaceOnUse" orient="auto"><path class="tip" d="M0 1 L9 5 L0 9 z"/></marker></defs>'
)

# Where a link begins, where it ends, and its direction.
Course = tuple[Point, Point, Point]


@dataclass(frozen=True, slots=True)
class Placed:
    """A fact at its place, with the lines of its text, which stand over it or under it."""

    dot: Dot
    point: Point
    lines: tuple[str, ...]
    text_above: bool
    quiet: bool

    @property
    def radius(self) -> float:
        return BIG if self.dot.stands_out else SMALL

    @property
    def rim(self) -> float:
        """How far from its middle the links end."""
        return self.radius + (RING if self.has_ring else 0.0)

    @property
    def has_ring(self) -> bool:
        return self.dot.named or self.dot.hit is not None

    @property
    def box(self) -> Box:
        if self.quiet:
            return Box(self.rim, self.rim, self.rim)
        widest = max((cell_len(line) for line in self.lines), default=0) * LETTER_WIDTH / 2
        text = self.rim + LINE_HEIGHT * len(self.lines) + 4
        return Box(max(self.rim, widest), text if self.text_above else self.rim, self.rim if self.text_above else text)

    def baseline(self, line: int) -> float:
        """Where a line of its text is written, seen from its middle."""
        first = -self.rim - 6 - LINE_HEIGHT * (len(self.lines) - 1) if self.text_above else self.rim + LINE_HEIGHT
        return first + LINE_HEIGHT * line


def svg(scene: Scene) -> str:
    """The whole picture; what it shows is told in its title and description."""
    placed = _placed(scene)
    inside = [_TIP, *_strokes(scene, placed), *_dots(scene, placed), *_kinds(scene, placed)]
    return (
        f'<svg viewBox="{_view(placed)}" role="img" aria-labelledby="picture-title picture-told">'
        f'<title id="picture-title">{said(scene.title)}</title>'
        f'<desc id="picture-told">{said(_told(scene))} The tables below list all of them.</desc>'
        f"{''.join(inside)}</svg>"
    )


def said(text: object) -> str:
    """Text of others as text of the page: it can neither open a tag, nor end an attribute, nor hide control characters.

    >>> said('<b "x">\\x00')
    '&lt;b &quot;x&quot;&gt;␀'
    """
    return escape(harmless(str(text)))


def colour_of(community: CommunityKey | None, scene: Scene) -> str:
    """The class of a community's colour."""
    numbers = {key: place for place, (key, _) in enumerate(scene.communities)}
    return f"c{min(numbers[community], COLOURS)}" if community in numbers else f"c{COLOURS}"


def dash_of(kind: str, kinds: Sequence[str]) -> str:
    """The pattern by which links of a kind can be told from others."""
    dash = DASHES[kinds.index(kind) % len(DASHES)]
    return f' stroke-dasharray="{dash}"' if dash else ""


def _told(scene: Scene) -> str:
    hits = sum(1 for dot in scene.dots if dot.hit)
    came = f", {hits} of which came back for the question" if hits else ""
    return f"{counted(len(scene.dots), 'fact')}{came}, and {counted(len(scene.strokes), 'link')} between them."


def _placed(scene: Scene) -> list[Placed]:
    """First the places by the links; then texts away from the links, and so far apart that all can be read."""
    pairs = {(min(one.source, one.target) - 1, max(one.source, one.target) - 1) for one in scene.strokes}
    points = settled(len(scene.dots), sorted(pairs))
    many = len(scene.dots) > MOST_TEXTS
    placed = [
        Placed(dot, point, _texts(dot), _is_led_from_below(dot, scene, points), many and not dot.stands_out)
        for dot, point in zip(scene.dots, points, strict=True)
    ]
    clear = cleared(points, [one.box for one in placed])
    return [replace(one, point=point) for one, point in zip(placed, clear, strict=True)]


def _is_led_from_below(dot: Dot, scene: Scene, points: Sequence[Point]) -> bool:
    """Whether the links of a fact, above all those that won, lie under it."""
    here, below = points[dot.number - 1], 0.0
    for stroke in scene.strokes:
        if dot.number in (stroke.source, stroke.target):
            other = points[(stroke.target if stroke.source == dot.number else stroke.source) - 1]
            below += math.copysign(WON_COUNTS if stroke.won else 1.0, (other - here).imag)
    return below > 0


def _texts(dot: Dot) -> tuple[str, ...]:
    """The text in a few short lines; letters that are twice as wide count twice."""
    flat = harmless(clipped(dot.fact.text, TEXT_WIDTH * TEXT_LINES * 2))
    width = max(4, TEXT_WIDTH * len(flat) // max(1, cell_len(flat)))
    return tuple(wrap(flat, width, max_lines=TEXT_LINES, placeholder="…"))


def _view(placed: Sequence[Placed]) -> str:
    """A frame around all boxes; a few facts are not blown up to fill the page."""
    left = min(one.point.real - one.box.half for one in placed) - MARGIN
    right = max(one.point.real + one.box.half for one in placed) + MARGIN
    top = min(one.point.imag - one.box.up for one in placed) - MARGIN
    bottom = max(one.point.imag + one.box.down for one in placed) + MARGIN
    width, height = max(right - left, LEAST_WIDTH), max(bottom - top, LEAST_HEIGHT)
    return f"{(left + right - width) / 2:.0f} {(top + bottom - height) / 2:.0f} {width:.0f} {height:.0f}"


def _strokes(scene: Scene, placed: Sequence[Placed]) -> Iterator[str]:
    kinds, bends = scene.kinds, _bends(scene)
    for stroke in scene.strokes:
        dash = "" if stroke.won else dash_of(stroke.kind, kinds)
        yield _stroke(stroke, _course(stroke, placed), bends[stroke], dash)


def _bends(scene: Scene) -> dict[Stroke, float]:
    """Several links between the same two facts bend away from each other, to both sides; those that won stay straight."""
    drawn: dict[frozenset[int], int] = defaultdict(int)
    bends: dict[Stroke, float] = {}
    for stroke in reversed(scene.strokes):
        pair = frozenset((stroke.source, stroke.target))
        side = 1 if (drawn[pair] % 2) == (stroke.source < stroke.target) else -1
        bends[stroke] = side * BEND * ((drawn[pair] + 1) // 2)
        drawn[pair] += 1
    return bends


def _course(stroke: Stroke, placed: Sequence[Placed]) -> Course:
    """Where a link begins and ends, at the rims of its dots, and its direction."""
    source, target = placed[stroke.source - 1], placed[stroke.target - 1]
    apart = target.point - source.point
    along = apart / (abs(apart) or 1.0)
    return source.point + along * source.rim, target.point - along * (target.rim + (TIP if stroke.won else 0.0)), along


def _stroke(stroke: Stroke, course: Course, bend: float, dash: str) -> str:
    start, end, along = course
    path = f"M{_at(start)} Q{_at((start + end) / 2 + along * 2j * bend)} {_at(end)}"
    tip = ' marker-end="url(#tip)"' if stroke.won else ""
    name = "won" if stroke.won else "link"
    return f'<path class="{name}" d="{path}"{dash}{tip}><title>{said(_of_kind(stroke))}</title></path>'


def _kinds(scene: Scene, placed: Sequence[Placed]) -> Iterator[str]:
    """What the links are that won, over everything else."""
    for stroke in scene.strokes:
        if stroke.won:
            text = clipped(_of_kind(stroke), TEXT_WIDTH)
            x, y = _free_place(_course(stroke, placed), cell_len(text) * LETTER_WIDTH / 2, placed)
            yield f'<text class="kind" x="{x:.1f}" y="{y + 4:.1f}">{said(text)}</text>'


def _free_place(course: Course, half: float, placed: Sequence[Placed]) -> tuple[float, float]:
    """Along a link, as near to its middle as can be, where no fact stands and no text; else the middle."""
    start, end, _ = course
    tried = [start + (end - start) * share for share in ALONG]
    free = (point for point in tried if not any(_covers(one, point, half) for one in placed))
    point = next(free, tried[0])
    return point.real, point.imag


def _covers(placed: Placed, point: Point, half: float) -> bool:
    apart, box = point - placed.point, placed.box
    return abs(apart.real) < box.half + half and -box.up - LINE_HEIGHT / 2 < apart.imag < box.down + LINE_HEIGHT / 2


def _of_kind(stroke: Stroke) -> str:
    return f"{stroke.kind} · {stroke.via}" if stroke.via else stroke.kind


def _at(point: Point) -> str:
    return f"{point.real:.1f} {point.imag:.1f}"


def _dots(scene: Scene, placed: Sequence[Placed]) -> Iterator[str]:
    for one in placed:
        yield _dot(one, colour_of(one.dot.community, scene))


def _dot(placed: Placed, colour: str) -> str:
    number = placed.dot.number
    marks = "".join(f" {mark}" for mark, holds in (("hit", placed.has_ring), ("quiet", placed.quiet)) if holds)
    ring = f'<circle class="ring" r="{placed.rim:.0f}"/>' if placed.has_ring else ""
    lines = "".join(
        f'<text class="said" y="{placed.baseline(place):.0f}">{said(line)}</text>'
        for place, line in enumerate(placed.lines)
    )
    return (
        f'<g id="fact-{number}" class="dot{marks}" transform="translate({_at(placed.point)})">'
        f"<title>{said(clipped(placed.dot.fact.text, LONGEST_TEXT))}</title>{ring}"
        f'<circle class="{colour}" r="{placed.radius:.0f}"/><text class="number" y="4">{number}</text>{lines}</g>'
    )
