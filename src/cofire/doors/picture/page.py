"""The page around a picture: heading, legend, and all that the picture shows as tables. One file, no script, nothing from elsewhere."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Iterator
from hashlib import sha256
from importlib.resources import files

from cofire.doors.cli.layout import clipped, rounded
from cofire.doors.picture.scene import Dot, Scene, Stroke
from cofire.doors.picture.vector import COLOURS, LONGEST_TEXT, colour_of, dash_of, said, svg
from cofire.xray import counted

_UNSAID = "–"


def page(scene: Scene) -> str:
    """The picture as a whole document."""
    style = files(__package__).joinpath("page.css").read_text(encoding="utf-8")
    return "\n".join(
        [
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{_policy(style)}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="color-scheme" content="light dark">\n<meta name="referrer" content="no-referrer">',
            f"<title>{said(clipped(scene.title, 100))} · cofire</title>\n<style>{style}</style>\n</head>\n<body>\n<main>",
            f"<header>\n<h1><bdi>{said(clipped(scene.title, LONGEST_TEXT))}</bdi></h1>\n<p>{_summary(scene)}</p>\n</header>",
            f"<figure>\n{svg(scene)}\n<figcaption>{''.join(_legend(scene))}</figcaption>\n</figure>",
            f"<h2>Facts</h2>\n{_facts(scene)}",
            f"<h2>Links</h2>\n{_links(scene)}" if scene.strokes else "",
            "</main>\n<footer>Drawn by cofire.</footer>\n</body>\n</html>\n",
        ]
    )


def _policy(style: str) -> str:
    """Nothing may be loaded or run; only this very style holds."""
    mark = b64encode(sha256(style.encode("utf-8")).digest()).decode("ascii")
    return f"default-src 'none'; style-src 'sha256-{mark}'; base-uri 'none'; form-action 'none'"


def _summary(scene: Scene) -> str:
    hits = sum(1 for dot in scene.dots if dot.hit)
    came = f"{counted(hits, 'fact')} came back. " if hits else ""
    return f"{came}The picture shows {counted(len(scene.dots), 'fact')} and {counted(len(scene.strokes), 'link')}."


def _legend(scene: Scene) -> Iterator[str]:
    """What rings, strong lines, colours and patterns mean; only what is in the picture."""
    yield from _list("Marks", _marks(scene))
    yield from _list("Communities", _colours(scene))
    yield from _list("Links", (_key(_pattern(dash_of(kind, scene.kinds)), kind) for kind in scene.kinds))


def _list(title: str, entries: Iterable[str]) -> Iterator[str]:
    inside = "".join(f"<li>{entry}</li>" for entry in entries)
    if inside:
        yield f'<section><h2>{title}</h2><ul class="legend">{inside}</ul></section>'


def _marks(scene: Scene) -> Iterator[str]:
    ring = '<circle class="ring" cx="9" cy="9" r="7"/>'
    if any(dot.hit for dot in scene.dots):
        yield _key(ring, "came back for the question")
    if any(dot.named for dot in scene.dots):
        yield _key(ring, "what the picture is about")
    if any(stroke.won for stroke in scene.strokes):
        yield _key('<path class="won" d="M1 9 H17"/>', "the way that led there")


def _colours(scene: Scene) -> Iterator[str]:
    if not scene.communities:
        return
    for key, name in scene.communities[:COLOURS]:
        yield _key(_disc(colour_of(key, scene)), name or f"community {key[1]}")
    if len(scene.communities) > COLOURS or any(dot.community is None for dot in scene.dots):
        yield _key(_disc(f"c{COLOURS}"), "any other, or none")


def _disc(colour: str) -> str:
    return f'<circle class="{colour}" cx="9" cy="9" r="7"/>'


def _pattern(dash: str) -> str:
    return f'<path class="link" d="M0 9 H36"{dash}/>'


def _key(shape: str, meaning: str) -> str:
    width = 36 if "H36" in shape else 18
    return f'<svg width="{width}" height="18" aria-hidden="true">{shape}</svg> <bdi>{said(meaning)}</bdi>'


def _facts(scene: Scene) -> str:
    names = dict(scene.communities)
    rows = (_fact_row(dot, names.get(dot.community, "") if dot.community else "") for dot in scene.dots)
    return _table(("No.", "Fact", "Score", "Community"), rows)


def _fact_row(dot: Dot, community: str) -> tuple[str, ...]:
    score = rounded(dot.hit.score) if dot.hit else _UNSAID
    text = f"<bdi>{said(clipped(dot.fact.text, LONGEST_TEXT))}</bdi>"
    group = community or (f"community {dot.community[1]}" if dot.community else _UNSAID)
    return f'<a href="#fact-{dot.number}">{dot.number}</a>', text, score, f"<bdi>{said(group)}</bdi>"


def _links(scene: Scene) -> str:
    """Those that won first, then the strongest."""
    ordered = sorted(scene.strokes, key=lambda one: (not one.won, -(one.weight or 0.0), one.source, one.target))
    return _table(("From", "To", "Kind", "Through", "Weight", "Led to an answer"), map(_link_row, ordered))


def _link_row(stroke: Stroke) -> tuple[str, ...]:
    ends = (f'<a href="#fact-{number}">{number}</a>' for number in (stroke.source, stroke.target))
    weight = _UNSAID if stroke.weight is None else rounded(stroke.weight)
    told = (f"<bdi>{said(one)}</bdi>" for one in (stroke.kind, stroke.via or _UNSAID))
    return (*ends, *told, weight, "yes" if stroke.won else _UNSAID)


def _table(heads: Iterable[str], rows: Iterable[tuple[str, ...]]) -> str:
    head = "".join(f'<th scope="col">{one}</th>' for one in heads)
    body = "\n".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return f'<div class="wide"><table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table></div>'
