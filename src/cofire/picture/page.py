"""A scene as one HTML page: inline SVG, legend and tables."""

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

from cofire.explain import format_count, shorten_text
from cofire.interfaces.plain_text import escape_controls, format_score
from cofire.picture.force_layout import Box, Point, place_nodes, separate_boxes
from cofire.picture.scene import CommunityKey, Scene, SceneEdge, SceneNode

# The page has this many colours for communities, and one for all others.
COLOUR_COUNT = 8
DASH_PATTERNS = ("", "7 4", "2 4", "10 3 2 3", "14 5", "1 7", "12 3 2 3 2 3", "4 9")
# With more facts, the texts of neighbours are shown only under the pointer.
MAX_VISIBLE_TEXTS = 48
LARGE_RADIUS, SMALL_RADIUS, RING_WIDTH = 17.0, 12.0, 5.0
LINE_HEIGHT, LETTER_WIDTH = 15.0, 6.9
TEXT_WIDTH, TEXT_LINES = 26, 2
MARGIN = 40.0
MIN_WIDTH, MIN_HEIGHT = 900.0, 420.0
BEND_OFFSET = 13.0
# Texts avoid links on a path before all others.
PATH_EDGE_WEIGHT = 4.0
# Positions to try for the label of a link, as shares of its length.
LABEL_POSITIONS = (0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74)
# Distance between the tip of an arrow and its target.
ARROW_GAP = 3.0
MAX_TEXT_LENGTH = 600
_ARROW_MARKER = (
    '<defs><marker id="tip" viewBox="0 0 10 10" refX="8" refY="5" markerWidth="12" markerHeight="12" '
    'markerUnits="userSpaceOnUse" orient="auto"><path class="tip" d="M0 1 L9 5 L0 9 z"/></marker></defs>'
)

# The start, the end and the direction of a link.
EdgeCourse = tuple[Point, Point, Point]


@dataclass(frozen=True, slots=True)
class PlacedNode:
    """A node with its position and the lines of its text, which are above or below it."""

    node: SceneNode
    point: Point
    lines: tuple[str, ...]
    text_above: bool
    quiet: bool

    @property
    def radius(self) -> float:
        return LARGE_RADIUS if self.node.stands_out else SMALL_RADIUS

    @property
    def rim(self) -> float:
        """The distance from the centre at which links end."""
        return self.radius + (RING_WIDTH if self.has_ring else 0.0)

    @property
    def has_ring(self) -> bool:
        return self.node.selected or self.node.hit is not None

    @property
    def box(self) -> Box:
        if self.quiet:
            return Box(self.rim, self.rim, self.rim)
        widest = max((cell_len(line) for line in self.lines), default=0) * LETTER_WIDTH / 2
        text = self.rim + LINE_HEIGHT * len(self.lines) + 4
        return Box(max(self.rim, widest), text if self.text_above else self.rim, self.rim if self.text_above else text)

    def baseline(self, line: int) -> float:
        """The vertical position of a line of text, relative to the centre."""
        first = -self.rim - 6 - LINE_HEIGHT * (len(self.lines) - 1) if self.text_above else self.rim + LINE_HEIGHT
        return first + LINE_HEIGHT * line


def render_svg(scene: Scene) -> str:
    """The scene as SVG, with a title and a description."""
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
    """Escape text for HTML, and make control characters visible.

    >>> escape_text('<b "x">\\x00')
    '&lt;b &quot;x&quot;&gt;␀'
    """
    return escape(escape_controls(str(text)))


def find_colour_class(community: CommunityKey | None, scene: Scene) -> str:
    """The CSS class for the colour of a community."""
    numbers = {key: place for place, (key, _) in enumerate(scene.communities)}
    return f"c{min(numbers[community], COLOUR_COUNT)}" if community in numbers else f"c{COLOUR_COUNT}"


def format_dash_attribute(kind: str, kinds: Sequence[str]) -> str:
    """The dash pattern for links of a kind."""
    dash = DASH_PATTERNS[kinds.index(kind) % len(DASH_PATTERNS)]
    return f' edge-dasharray="{dash}"' if dash else ""


def _describe_scene(scene: Scene) -> str:
    hits = sum(1 for node in scene.nodes if node.hit)
    results = f", {hits} of them results of the question" if hits else ""
    links = format_count(len(scene.edges), "link")
    return f"{format_count(len(scene.nodes), 'fact')}{results}, and {links} between them."


def _place_scene(scene: Scene) -> list[PlacedNode]:
    """Place nodes by their links, put texts on the side with fewer links, and remove overlaps."""
    pairs = {(min(edge.source, edge.target) - 1, max(edge.source, edge.target) - 1) for edge in scene.edges}
    points = place_nodes(len(scene.nodes), sorted(pairs))
    many = len(scene.nodes) > MAX_VISIBLE_TEXTS
    placed = [
        PlacedNode(node, point, _wrap_text(node), _has_links_below(node, scene, points), many and not node.stands_out)
        for node, point in zip(scene.nodes, points, strict=True)
    ]
    separated = separate_boxes(points, [node.box for node in placed])
    return [replace(node, point=point) for node, point in zip(placed, separated, strict=True)]


def _has_links_below(node: SceneNode, scene: Scene, points: Sequence[Point]) -> bool:
    """Whether most links of a node go downward; those on a path count more."""
    here = points[node.number - 1]
    below = 0.0
    for edge in scene.edges:
        if node.number in (edge.source, edge.target):
            other = points[(edge.target if edge.source == node.number else edge.source) - 1]
            below += math.copysign(PATH_EDGE_WEIGHT if edge.on_path else 1.0, (other - here).imag)
    return below > 0


def _wrap_text(node: SceneNode) -> tuple[str, ...]:
    """The text in a few short lines. Wide characters count twice."""
    flat = escape_controls(shorten_text(node.fact.text, TEXT_WIDTH * TEXT_LINES * 2))
    width = max(4, TEXT_WIDTH * len(flat) // max(1, cell_len(flat)))
    return tuple(wrap(flat, width, max_lines=TEXT_LINES, placeholder="…"))


def _make_view_box(placed: Sequence[PlacedNode]) -> str:
    """A frame around all boxes, with a minimum size so that a few nodes are not enlarged."""
    left = min(node.point.real - node.box.half for node in placed) - MARGIN
    right = max(node.point.real + node.box.half for node in placed) + MARGIN
    top = min(node.point.imag - node.box.up for node in placed) - MARGIN
    bottom = max(node.point.imag + node.box.down for node in placed) + MARGIN
    width, height = max(right - left, MIN_WIDTH), max(bottom - top, MIN_HEIGHT)
    return f"{(left + right - width) / 2:.0f} {(top + bottom - height) / 2:.0f} {width:.0f} {height:.0f}"


def _render_edges(scene: Scene, placed: Sequence[PlacedNode]) -> Iterator[str]:
    kinds, bends = scene.kinds, _compute_bends(scene)
    for edge in scene.edges:
        dash = "" if edge.on_path else format_dash_attribute(edge.kind, kinds)
        yield _render_edge(edge, _compute_course(edge, placed), bends[edge], dash)


def _compute_bends(scene: Scene) -> dict[SceneEdge, float]:
    """Bend several links between the same two nodes to alternating sides; the one drawn last stays straight."""
    drawn: dict[frozenset[int], int] = defaultdict(int)
    bends: dict[SceneEdge, float] = {}
    for edge in reversed(scene.edges):
        pair = frozenset((edge.source, edge.target))
        side = 1 if (drawn[pair] % 2) == (edge.source < edge.target) else -1
        bends[edge] = side * BEND_OFFSET * ((drawn[pair] + 1) // 2)
        drawn[pair] += 1
    return bends


def _compute_course(edge: SceneEdge, placed: Sequence[PlacedNode]) -> EdgeCourse:
    """The course of a link between the rims of its nodes."""
    source, target = placed[edge.source - 1], placed[edge.target - 1]
    apart = target.point - source.point
    along = apart / (abs(apart) or 1.0)
    return (
        source.point + along * source.rim,
        target.point - along * (target.rim + (ARROW_GAP if edge.on_path else 0.0)),
        along,
    )


def _render_edge(edge: SceneEdge, course: EdgeCourse, bend: float, dash: str) -> str:
    start, end, along = course
    path = f"M{_format_point(start)} Q{_format_point((start + end) / 2 + along * 2j * bend)} {_format_point(end)}"
    tip = ' marker-end="url(#tip)"' if edge.on_path else ""
    name = "won" if edge.on_path else "link"
    return f'<path class="{name}" d="{path}"{dash}{tip}><title>{escape_text(_format_edge_label(edge))}</title></path>'


def _render_edge_labels(scene: Scene, placed: Sequence[PlacedNode]) -> Iterator[str]:
    """Labels of the links on a path, drawn on top."""
    for edge in scene.edges:
        if edge.on_path:
            text = shorten_text(_format_edge_label(edge), TEXT_WIDTH)
            x, y = _find_label_position(_compute_course(edge, placed), cell_len(text) * LETTER_WIDTH / 2, placed)
            yield f'<text class="kind" x="{x:.1f}" y="{y + 4:.1f}">{escape_text(text)}</text>'


def _find_label_position(course: EdgeCourse, half: float, placed: Sequence[PlacedNode]) -> tuple[float, float]:
    """The free position along a link that is nearest to its middle; the middle if none is free."""
    start, end, _ = course
    tried = [start + (end - start) * share for share in LABEL_POSITIONS]
    free = (point for point in tried if not any(_is_covered(node, point, half) for node in placed))
    point = next(free, tried[0])
    return point.real, point.imag


def _is_covered(placed: PlacedNode, point: Point, half: float) -> bool:
    apart, box = point - placed.point, placed.box
    return abs(apart.real) < box.half + half and -box.up - LINE_HEIGHT / 2 < apart.imag < box.down + LINE_HEIGHT / 2


def _format_edge_label(edge: SceneEdge) -> str:
    return f"{edge.kind} · {edge.via}" if edge.via else edge.kind


def _format_point(point: Point) -> str:
    return f"{point.real:.1f} {point.imag:.1f}"


def _render_nodes(scene: Scene, placed: Sequence[PlacedNode]) -> Iterator[str]:
    for node in placed:
        yield _render_node(node, find_colour_class(node.node.community, scene))


def _render_node(placed: PlacedNode, colour: str) -> str:
    number = placed.node.number
    marks = "".join(f" {mark}" for mark, holds in (("hit", placed.has_ring), ("quiet", placed.quiet)) if holds)
    ring = f'<circle class="ring" r="{placed.rim:.0f}"/>' if placed.has_ring else ""
    lines = "".join(
        f'<text class="said" y="{placed.baseline(place):.0f}">{escape_text(line)}</text>'
        for place, line in enumerate(placed.lines)
    )
    return (
        f'<g id="fact-{number}" class="dot{marks}" transform="translate({_format_point(placed.point)})">'
        f"<title>{escape_text(shorten_text(placed.node.fact.text, MAX_TEXT_LENGTH))}</title>{ring}"
        f'<circle class="{colour}" r="{placed.radius:.0f}"/><text class="number" y="4">{number}</text>{lines}</g>'
    )


_EMPTY_CELL = "–"


def render_page(scene: Scene) -> str:
    """The scene as an HTML document."""
    style = files(__package__).joinpath("page.css").read_text(encoding="utf-8")
    return "\n".join(
        [
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{_make_content_policy(style)}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="color-scheme" content="light dark">\n<meta name="referrer" content="no-referrer">',
            f"<title>{escape_text(shorten_text(scene.title, 100))} · cofire</title>\n<style>{style}</style>\n</head>\n<body>\n<main>",
            (
                f"<header>\n<h1><bdi>{escape_text(shorten_text(scene.title, MAX_TEXT_LENGTH))}</bdi></h1>\n"
                f"<p>{_format_summary(scene)}</p>\n</header>"
            ),
            f"<figure>\n{render_svg(scene)}\n<figcaption>{''.join(_render_legend(scene))}</figcaption>\n</figure>",
            f"<h2>Facts</h2>\n{_render_facts_table(scene)}",
            f"<h2>Links</h2>\n{_render_links_table(scene)}" if scene.edges else "",
            "</main>\n<footer>Drawn by cofire.</footer>\n</body>\n</html>\n",
        ]
    )


def _make_content_policy(style: str) -> str:
    """A content security policy that allows only this style sheet."""
    digest = b64encode(sha256(style.encode("utf-8")).digest()).decode("ascii")
    return f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


def _format_summary(scene: Scene) -> str:
    hits = sum(1 for node in scene.nodes if node.hit)
    results = f"{format_count(hits, 'result')}. " if hits else ""
    links = format_count(len(scene.edges), "link")
    return f"{results}The picture shows {format_count(len(scene.nodes), 'fact')} and {links}."


def _render_legend(scene: Scene) -> Iterator[str]:
    """The meaning of the rings, lines, colours and patterns in the picture."""
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
    if any(node.hit for node in scene.nodes):
        yield _render_legend_entry(ring, "result of the question")
    if any(node.selected for node in scene.nodes):
        yield _render_legend_entry(ring, "selected fact")
    if any(edge.on_path for edge in scene.edges):
        yield _render_legend_entry('<path class="won" d="M1 9 H17"/>', "path to a result")


def _render_community_entries(scene: Scene) -> Iterator[str]:
    if not scene.communities:
        return
    for key, name in scene.communities[:COLOUR_COUNT]:
        yield _render_legend_entry(_render_colour_disc(find_colour_class(key, scene)), name or f"community {key[1]}")
    if len(scene.communities) > COLOUR_COUNT or any(node.community is None for node in scene.nodes):
        yield _render_legend_entry(_render_colour_disc(f"c{COLOUR_COUNT}"), "other or no community")


def _render_colour_disc(colour: str) -> str:
    return f'<circle class="{colour}" cx="9" cy="9" r="7"/>'


def _render_dash_sample(dash: str) -> str:
    return f'<path class="link" d="M0 9 H36"{dash}/>'


def _render_legend_entry(shape: str, meaning: str) -> str:
    width = 36 if "H36" in shape else 18
    return f'<svg width="{width}" height="18" aria-hidden="true">{shape}</svg> <bdi>{escape_text(meaning)}</bdi>'


def _render_facts_table(scene: Scene) -> str:
    names = dict(scene.communities)
    rows = (_make_fact_row(node, names.get(node.community, "") if node.community else "") for node in scene.nodes)
    return _render_table(("No.", "Fact", "Score", "Community"), rows)


def _make_fact_row(node: SceneNode, community: str) -> tuple[str, ...]:
    score = format_score(node.hit.score) if node.hit else _EMPTY_CELL
    text = f"<bdi>{escape_text(shorten_text(node.fact.text, MAX_TEXT_LENGTH))}</bdi>"
    group = community or (f"community {node.community[1]}" if node.community else _EMPTY_CELL)
    return f'<a href="#fact-{node.number}">{node.number}</a>', text, score, f"<bdi>{escape_text(group)}</bdi>"


def _render_links_table(scene: Scene) -> str:
    """Links on a path first, then by weight."""
    ordered = sorted(scene.edges, key=lambda edge: (not edge.on_path, -(edge.weight or 0.0), edge.source, edge.target))
    return _render_table(("From", "To", "Kind", "Through", "Weight", "On a path"), map(_make_link_row, ordered))


def _make_link_row(edge: SceneEdge) -> tuple[str, ...]:
    ends = (f'<a href="#fact-{number}">{number}</a>' for number in (edge.source, edge.target))
    weight = _EMPTY_CELL if edge.weight is None else format_score(edge.weight)
    kind = f"<bdi>{escape_text(edge.kind)}</bdi>"
    via = f"<bdi>{escape_text(edge.via or _EMPTY_CELL)}</bdi>"
    return (*ends, kind, via, weight, "yes" if edge.on_path else _EMPTY_CELL)


def _render_table(heads: Iterable[str], rows: Iterable[tuple[str, ...]]) -> str:
    head = "".join(f'<th scope="col">{title}</th>' for title in heads)
    body = "\n".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return f'<div class="wide"><table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table></div>'
