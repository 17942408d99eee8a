"""The picture as one HTML page: inline SVG, legend and tables."""

from __future__ import annotations

import math
from base64 import b64encode
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from html import escape
from importlib.resources import files
from textwrap import wrap

from rich.cells import cell_len

from cofire.cli.layout import clip_text, format_score
from cofire.cli.terminal import escape_controls
from cofire.explain import format_count
from cofire.picture.force_layout import Box, Point, place_nodes, separate_boxes
from cofire.picture.scene import CommunityKey, Scene, SceneEdge, SceneNode

# Colours of communities; the page has as many, and one for all the others.
COLOUR_COUNT = 8
DASH_PATTERNS = ("", "7 4", "2 4", "10 3 2 3", "14 5", "1 7", "12 3 2 3 2 3", "4 9")
# With more facts than these, texts of neighbours show only where the pointer is.
MAX_VISIBLE_TEXTS = 48
LARGE_RADIUS, SMALL_RADIUS, RING_WIDTH = 17.0, 12.0, 5.0
LINE_HEIGHT, LETTER_WIDTH = 15.0, 6.9
TEXT_WIDTH, TEXT_LINES = 26, 2
MARGIN = 40.0
MIN_WIDTH, MIN_HEIGHT = 900.0, 420.0
BEND_OFFSET = 13.0
# A text should stand clear of a link that won, whatever the others do.
PATH_EDGE_WEIGHT = 4.0
# Where the name of a link may stand, from its beginning to its end.
LABEL_POSITIONS = (0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74)
# Between the tip of an arrow and the dot that it points to.
ARROW_GAP = 3.0
MAX_TEXT_LENGTH = 600
_ARROW_MARKER = (
    '<defs><marker id="tip" viewBox="0 0 10 10" refX="8" refY="5" markerWidth="12" markerHeight="12" '
    'markerUnits="userSpaceOnUse" orient="auto"><path class="tip" d="M0 1 L9 5 L0 9 z"/></marker></defs>'
)

# Where a link begins, where it ends, and its direction.
EdgeCourse = tuple[Point, Point, Point]


@dataclass(frozen=True, slots=True)
class PlacedNode:
    """A fact at its place, with the lines of its text, which stand over it or under it."""

    dot: SceneNode
    point: Point
    lines: tuple[str, ...]
    text_above: bool
    quiet: bool

    @property
    def radius(self) -> float:
        return LARGE_RADIUS if self.dot.stands_out else SMALL_RADIUS

    @property
    def rim(self) -> float:
        """How far from its middle the links end."""
        return self.radius + (RING_WIDTH if self.has_ring else 0.0)

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


def render_svg(scene: Scene) -> str:
    """The whole picture; what it shows is told in its title and description."""
    placed = _place_scene(scene)
    inside = [
        _ARROW_MARKER,
        *_render_edges(scene, placed),
        *_render_nodes(scene, placed),
        *_render_edge_labels(scene, placed),
    ]
    return (
        f'<svg viewBox="{_make_view_box(placed)}" role="img" aria-labelledby="picture-title picture-told">'
        f'<title id="picture-title">{escape_text(scene.title)}</title>'
        f'<desc id="picture-told">{escape_text(_describe_scene(scene))} The tables below list all of them.</desc>'
        f"{''.join(inside)}</svg>"
    )


def escape_text(text: object) -> str:
    """Text of others as text of the page: it can neither open a tag, nor end an attribute, nor hide control characters.

    >>> escape_text('<b "x">\\x00')
    '&lt;b &quot;x&quot;&gt;␀'
    """
    return escape(escape_controls(str(text)))


def find_colour_class(community: CommunityKey | None, scene: Scene) -> str:
    """The class of a community's colour."""
    numbers = {key: place for place, (key, _) in enumerate(scene.communities)}
    return f"c{min(numbers[community], COLOUR_COUNT)}" if community in numbers else f"c{COLOUR_COUNT}"


def format_dash_attribute(kind: str, kinds: Sequence[str]) -> str:
    """The pattern by which links of a kind can be told from others."""
    dash = DASH_PATTERNS[kinds.index(kind) % len(DASH_PATTERNS)]
    return f' stroke-dasharray="{dash}"' if dash else ""


def _describe_scene(scene: Scene) -> str:
    hits = sum(1 for dot in scene.dots if dot.hit)
    came = f", {hits} of which came back for the question" if hits else ""
    return (
        f"{format_count(len(scene.dots), 'fact')}{came}, and {format_count(len(scene.strokes), 'link')} between them."
    )


def _place_scene(scene: Scene) -> list[PlacedNode]:
    """First the places by the links; then texts away from the links, and so far apart that all can be read."""
    pairs = {(min(one.source, one.target) - 1, max(one.source, one.target) - 1) for one in scene.strokes}
    points = place_nodes(len(scene.dots), sorted(pairs))
    many = len(scene.dots) > MAX_VISIBLE_TEXTS
    placed = [
        PlacedNode(dot, point, _wrap_text(dot), _has_links_below(dot, scene, points), many and not dot.stands_out)
        for dot, point in zip(scene.dots, points, strict=True)
    ]
    clear = separate_boxes(points, [one.box for one in placed])
    return [replace(one, point=point) for one, point in zip(placed, clear, strict=True)]


def _has_links_below(dot: SceneNode, scene: Scene, points: Sequence[Point]) -> bool:
    """Whether the links of a fact, above all those that won, lie under it."""
    here, below = points[dot.number - 1], 0.0
    for stroke in scene.strokes:
        if dot.number in (stroke.source, stroke.target):
            other = points[(stroke.target if stroke.source == dot.number else stroke.source) - 1]
            below += math.copysign(PATH_EDGE_WEIGHT if stroke.won else 1.0, (other - here).imag)
    return below > 0


def _wrap_text(dot: SceneNode) -> tuple[str, ...]:
    """The text in a few short lines; letters that are twice as wide count twice."""
    flat = escape_controls(clip_text(dot.fact.text, TEXT_WIDTH * TEXT_LINES * 2))
    width = max(4, TEXT_WIDTH * len(flat) // max(1, cell_len(flat)))
    return tuple(wrap(flat, width, max_lines=TEXT_LINES, placeholder="…"))


def _make_view_box(placed: Sequence[PlacedNode]) -> str:
    """A frame around all boxes; a few facts are not blown up to fill the page."""
    left = min(one.point.real - one.box.half for one in placed) - MARGIN
    right = max(one.point.real + one.box.half for one in placed) + MARGIN
    top = min(one.point.imag - one.box.up for one in placed) - MARGIN
    bottom = max(one.point.imag + one.box.down for one in placed) + MARGIN
    width, height = max(right - left, MIN_WIDTH), max(bottom - top, MIN_HEIGHT)
    return f"{(left + right - width) / 2:.0f} {(top + bottom - height) / 2:.0f} {width:.0f} {height:.0f}"


def _render_edges(scene: Scene, placed: Sequence[PlacedNode]) -> Iterator[str]:
    kinds, bends = scene.kinds, _compute_bends(scene)
    for stroke in scene.strokes:
        dash = "" if stroke.won else format_dash_attribute(stroke.kind, kinds)
        yield _render_edge(stroke, _compute_course(stroke, placed), bends[stroke], dash)


def _compute_bends(scene: Scene) -> dict[SceneEdge, float]:
    """Several links between the same two facts bend away from each other, to both sides; those that won stay straight."""
    drawn: dict[frozenset[int], int] = defaultdict(int)
    bends: dict[SceneEdge, float] = {}
    for stroke in reversed(scene.strokes):
        pair = frozenset((stroke.source, stroke.target))
        side = 1 if (drawn[pair] % 2) == (stroke.source < stroke.target) else -1
        bends[stroke] = side * BEND_OFFSET * ((drawn[pair] + 1) // 2)
        drawn[pair] += 1
    return bends


def _compute_course(stroke: SceneEdge, placed: Sequence[PlacedNode]) -> EdgeCourse:
    """Where a link begins and ends, at the rims of its dots, and its direction."""
    source, target = placed[stroke.source - 1], placed[stroke.target - 1]
    apart = target.point - source.point
    along = apart / (abs(apart) or 1.0)
    return (
        source.point + along * source.rim,
        target.point - along * (target.rim + (ARROW_GAP if stroke.won else 0.0)),
        along,
    )


def _render_edge(stroke: SceneEdge, course: EdgeCourse, bend: float, dash: str) -> str:
    start, end, along = course
    path = f"M{_format_point(start)} Q{_format_point((start + end) / 2 + along * 2j * bend)} {_format_point(end)}"
    tip = ' marker-end="url(#tip)"' if stroke.won else ""
    name = "won" if stroke.won else "link"
    return f'<path class="{name}" d="{path}"{dash}{tip}><title>{escape_text(_format_edge_label(stroke))}</title></path>'


def _render_edge_labels(scene: Scene, placed: Sequence[PlacedNode]) -> Iterator[str]:
    """What the links are that won, over everything else."""
    for stroke in scene.strokes:
        if stroke.won:
            text = clip_text(_format_edge_label(stroke), TEXT_WIDTH)
            x, y = _find_label_position(_compute_course(stroke, placed), cell_len(text) * LETTER_WIDTH / 2, placed)
            yield f'<text class="kind" x="{x:.1f}" y="{y + 4:.1f}">{escape_text(text)}</text>'


def _find_label_position(course: EdgeCourse, half: float, placed: Sequence[PlacedNode]) -> tuple[float, float]:
    """Along a link, as near to its middle as can be, where no fact stands and no text; else the middle."""
    start, end, _ = course
    tried = [start + (end - start) * share for share in LABEL_POSITIONS]
    free = (point for point in tried if not any(_is_covered(one, point, half) for one in placed))
    point = next(free, tried[0])
    return point.real, point.imag


def _is_covered(placed: PlacedNode, point: Point, half: float) -> bool:
    apart, box = point - placed.point, placed.box
    return abs(apart.real) < box.half + half and -box.up - LINE_HEIGHT / 2 < apart.imag < box.down + LINE_HEIGHT / 2


def _format_edge_label(stroke: SceneEdge) -> str:
    return f"{stroke.kind} · {stroke.via}" if stroke.via else stroke.kind


def _format_point(point: Point) -> str:
    return f"{point.real:.1f} {point.imag:.1f}"


def _render_nodes(scene: Scene, placed: Sequence[PlacedNode]) -> Iterator[str]:
    for one in placed:
        yield _render_node(one, find_colour_class(one.dot.community, scene))


def _render_node(placed: PlacedNode, colour: str) -> str:
    number = placed.dot.number
    marks = "".join(f" {mark}" for mark, holds in (("hit", placed.has_ring), ("quiet", placed.quiet)) if holds)
    ring = f'<circle class="ring" r="{placed.rim:.0f}"/>' if placed.has_ring else ""
    lines = "".join(
        f'<text class="said" y="{placed.baseline(place):.0f}">{escape_text(line)}</text>'
        for place, line in enumerate(placed.lines)
    )
    return (
        f'<g id="fact-{number}" class="dot{marks}" transform="translate({_format_point(placed.point)})">'
        f"<title>{escape_text(clip_text(placed.dot.fact.text, MAX_TEXT_LENGTH))}</title>{ring}"
        f'<circle class="{colour}" r="{placed.radius:.0f}"/><text class="number" y="4">{number}</text>{lines}</g>'
    )


_EMPTY_CELL = "–"


def render_page(scene: Scene) -> str:
    """The picture as a whole document."""
    style = files(__package__).joinpath("page.css").read_text(encoding="utf-8")
    return "\n".join(
        [
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{_make_content_policy(style)}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="color-scheme" content="light dark">\n<meta name="referrer" content="no-referrer">',
            f"<title>{escape_text(clip_text(scene.title, 100))} · cofire</title>\n<style>{style}</style>\n</head>\n<body>\n<main>",
            f"<header>\n<h1><bdi>{escape_text(clip_text(scene.title, MAX_TEXT_LENGTH))}</bdi></h1>\n<p>{_format_summary(scene)}</p>\n</header>",
            f"<figure>\n{render_svg(scene)}\n<figcaption>{''.join(_render_legend(scene))}</figcaption>\n</figure>",
            f"<h2>Facts</h2>\n{_render_facts_table(scene)}",
            f"<h2>Links</h2>\n{_render_links_table(scene)}" if scene.strokes else "",
            "</main>\n<footer>Drawn by cofire.</footer>\n</body>\n</html>\n",
        ]
    )


def _make_content_policy(style: str) -> str:
    """Nothing may be loaded or run; only this very style holds."""
    mark = b64encode(sha256(style.encode("utf-8")).digest()).decode("ascii")
    return f"default-src 'none'; style-src 'sha256-{mark}'; base-uri 'none'; form-action 'none'"


def _format_summary(scene: Scene) -> str:
    hits = sum(1 for dot in scene.dots if dot.hit)
    came = f"{format_count(hits, 'fact')} came back. " if hits else ""
    return f"{came}The picture shows {format_count(len(scene.dots), 'fact')} and {format_count(len(scene.strokes), 'link')}."


def _render_legend(scene: Scene) -> Iterator[str]:
    """What rings, strong lines, colours and patterns mean; only what is in the picture."""
    yield from _render_legend_section("Marks", _render_mark_entries(scene))
    yield from _render_legend_section("Communities", _render_community_entries(scene))
    yield from _render_legend_section(
        "Links",
        (
            _render_legend_entry(_render_dash_sample(format_dash_attribute(kind, scene.kinds)), kind)
            for kind in scene.kinds
        ),
    )


def _render_legend_section(title: str, entries: Iterable[str]) -> Iterator[str]:
    inside = "".join(f"<li>{entry}</li>" for entry in entries)
    if inside:
        yield f'<section><h2>{title}</h2><ul class="legend">{inside}</ul></section>'


def _render_mark_entries(scene: Scene) -> Iterator[str]:
    ring = '<circle class="ring" cx="9" cy="9" r="7"/>'
    if any(dot.hit for dot in scene.dots):
        yield _render_legend_entry(ring, "came back for the question")
    if any(dot.named for dot in scene.dots):
        yield _render_legend_entry(ring, "what the picture is about")
    if any(stroke.won for stroke in scene.strokes):
        yield _render_legend_entry('<path class="won" d="M1 9 H17"/>', "the way that led there")


def _render_community_entries(scene: Scene) -> Iterator[str]:
    if not scene.communities:
        return
    for key, name in scene.communities[:COLOUR_COUNT]:
        yield _render_legend_entry(_render_colour_disc(find_colour_class(key, scene)), name or f"community {key[1]}")
    if len(scene.communities) > COLOUR_COUNT or any(dot.community is None for dot in scene.dots):
        yield _render_legend_entry(_render_colour_disc(f"c{COLOUR_COUNT}"), "any other, or none")


def _render_colour_disc(colour: str) -> str:
    return f'<circle class="{colour}" cx="9" cy="9" r="7"/>'


def _render_dash_sample(dash: str) -> str:
    return f'<path class="link" d="M0 9 H36"{dash}/>'


def _render_legend_entry(shape: str, meaning: str) -> str:
    width = 36 if "H36" in shape else 18
    return f'<svg width="{width}" height="18" aria-hidden="true">{shape}</svg> <bdi>{escape_text(meaning)}</bdi>'


def _render_facts_table(scene: Scene) -> str:
    names = dict(scene.communities)
    rows = (_make_fact_row(dot, names.get(dot.community, "") if dot.community else "") for dot in scene.dots)
    return _render_table(("No.", "Fact", "Score", "Community"), rows)


def _make_fact_row(dot: SceneNode, community: str) -> tuple[str, ...]:
    score = format_score(dot.hit.score) if dot.hit else _EMPTY_CELL
    text = f"<bdi>{escape_text(clip_text(dot.fact.text, MAX_TEXT_LENGTH))}</bdi>"
    group = community or (f"community {dot.community[1]}" if dot.community else _EMPTY_CELL)
    return f'<a href="#fact-{dot.number}">{dot.number}</a>', text, score, f"<bdi>{escape_text(group)}</bdi>"


def _render_links_table(scene: Scene) -> str:
    """Those that won first, then the strongest."""
    ordered = sorted(scene.strokes, key=lambda one: (not one.won, -(one.weight or 0.0), one.source, one.target))
    return _render_table(("From", "To", "Kind", "Through", "Weight", "Led to an answer"), map(_make_link_row, ordered))


def _make_link_row(stroke: SceneEdge) -> tuple[str, ...]:
    ends = (f'<a href="#fact-{number}">{number}</a>' for number in (stroke.source, stroke.target))
    weight = _EMPTY_CELL if stroke.weight is None else format_score(stroke.weight)
    told = (f"<bdi>{escape_text(one)}</bdi>" for one in (stroke.kind, stroke.via or _EMPTY_CELL))
    return (*ends, *told, weight, "yes" if stroke.won else _EMPTY_CELL)


def _render_table(heads: Iterable[str], rows: Iterable[tuple[str, ...]]) -> str:
    head = "".join(f'<th scope="col">{one}</th>' for one in heads)
    body = "\n".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return f'<div class="wide"><table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table></div>'
