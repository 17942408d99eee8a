"""Generate the tables of docs/benchmarks.md from the JSON files of the other programs.

    python benchmarks/report.py [--quality quality.json] [--speed speed.json] [--processes peace.json kill.json] [--page PAGE]

Each table is between two comments, <!-- quality --> and <!-- end of quality -->; tables without a file stay unchanged.
"""

from __future__ import annotations

import json
import re
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

if not __package__:  # run by its path
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.speed import ROOT, shown
from cofire.evaluation import metrics, provenance

PAGE = ROOT / "docs" / "benchmarks.md"
BESIDES = ("all@10", "nDCG@10", "MRR")

Figures = Mapping[str, Any]


def main(arguments: Sequence[str] | None = None) -> int:
    given = read_arguments(arguments)
    page = given.page.read_text(encoding="utf-8")
    for name, table in tables(given):
        page = replaced(page, name, table)
    given.page.write_text(page, encoding="utf-8")
    return 0


def read_arguments(arguments: Sequence[str] | None) -> Namespace:
    parser = ArgumentParser(description="Put measured figures into the page on benchmarks.")
    parser.add_argument("--quality", type=Path, metavar="FILE.json")
    parser.add_argument("--speed", type=Path, metavar="FILE.json")
    parser.add_argument("--processes", type=Path, nargs="+", metavar="FILE.json", help="One run or several.")
    parser.add_argument("--page", type=Path, default=PAGE)
    return parser.parse_args(arguments)


def tables(given: Namespace) -> Iterator[tuple[str, str]]:
    if given.quality:
        yield "quality", quality(read(given.quality))
    if given.speed:
        yield "speed", speed(read(given.speed))
    if given.processes:
        yield "processes", processes([read(path) for path in given.processes])


def read(path: Path) -> Figures:
    found: Figures = json.loads(path.read_text(encoding="utf-8"))
    return found


def replaced(page: str, name: str, table: str) -> str:
    """The page with a new text between the comments of this name.

    >>> replaced("<!-- speed -->old<!-- end of speed -->", "speed", "new")
    '<!-- speed -->\\n\\nnew\\n\\n<!-- end of speed -->'
    """
    begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
    if begin not in page or end not in page:
        raise ValueError(f"The page has no place for {name}: {begin} … {end}")
    pattern = re.compile(f"{re.escape(begin)}.*?{re.escape(end)}", re.DOTALL)
    return pattern.sub(lambda _: f"{begin}\n\n{table}\n\n{end}", page)


def quality(figures: Figures) -> str:
    """R@5 / R@10 of every arm on every set with its other figures, then R@10 by category."""
    rows = [
        ["" if place else name, arm, *(_recalls(found[half]) for half in metrics.HALVES), *_besides(found)]
        for name, one in figures["sets"].items()
        for place, (arm, found) in enumerate(one["arms"].items())
    ]
    heads = ["set", "arm", "all", "tuning half", "other half", "R@5 interval", *BESIDES, "ms p50 / p95"]
    arms = list(dict.fromkeys(arm for one in figures["sets"].values() for arm in one["arms"]))
    return "\n\n".join(
        [
            f"R@5 / R@10 in percent; {', '.join(BESIDES)} over all questions. {_origin(figures)}",
            markdown(heads, rows),
            "R@10 by category, all questions:",
            markdown(["set", "category", "questions", *arms], _categories(figures["sets"], arms)),
        ]
    )


def _besides(found: Figures) -> list[str]:
    low, high = found["all"]["intervals"]["R@5"] or (0.0, 0.0)
    times = f"{found['recall_ms']:.1f} / {found['recall_ms_p95']:.1f}"
    return [f"{low:.1f} – {high:.1f}", *(_percent(found["all"][metric]) for metric in BESIDES), times]


def _categories(sets: Figures, arms: Sequence[str]) -> list[list[str]]:
    return [
        [
            name,
            category,
            str(found["questions"]),
            *(_percent(one["arms"][arm]["categories"][category]["R@10"]) for arm in arms),
        ]
        for name, one in sets.items()
        for category, found in one["arms"][arms[-1]]["categories"].items()
    ]


def speed(figures: Figures) -> str:
    rows = [[one["name"], shown(one["value"]), one["unit"], _range(one), one["aim"]] for one in figures["figures"]]
    title = f"A store of {figures['facts']:,} facts. {_origin(figures)}"
    return f"{title}\n\n{markdown(['what', 'median', 'unit', 'range', 'aim'], rows)}"


def processes(runs: Sequence[Figures]) -> str:
    """A table with one column for each run."""
    names = ["none killed" if not run["killed"] else f"{run['killed']} killed" for run in runs]
    rows = [
        ["writers and readers", *(f"{run['writers']} and {run['readers']}, {run['seconds']:g} s" for run in runs)],
        ["writes a second", *(f"{run['writes_a_second']:g}" for run in runs)],
        ["recalls a second", *(f"{run['recalls_a_second']:g}" for run in runs)],
        ["remember one, median / 99th percentile, ms wall", *(_spread(run["remember_one_ms"]) for run in runs)],
        ["recall, median / 99th percentile, ms wall", *(_spread(run["recall_ms"]) for run in runs)],
        ["facts at the end", *(f"{run['stored']:,}" for run in runs)],
        ["violations", *(str(len(run["violations"])) for run in runs)],
    ]
    return f"{_origin(runs[0])}\n\n{markdown(['', *names], rows)}"


def markdown(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table.

    >>> print(markdown(["a", "b"], [["1", "2"]]))
    | a | b |
    |---|---|
    | 1 | 2 |
    """
    lines = [heads, *rows]
    made = [f"| {' | '.join(line)} |" for line in lines]
    return "\n".join([made[0], "|---" * len(heads) + "|", *made[1:]])


def _origin(figures: Figures) -> str:
    return f"Measured {figures['measured'][:10]} with {provenance.format_provenance(dict(figures))}."


def _percent(figure: float | None) -> str:
    return "–" if figure is None else f"{figure:.1f}"


def _recalls(found: Figures) -> str:
    return f"{found['R@5']:.1f} / {found['R@10']:.1f}" if found["questions"] else "–"


def _range(one: Figures) -> str:
    return f"{shown(one['least'])} – {shown(one['most'])}" if one["rounds"] > 1 else ""


def _spread(milliseconds: Mapping[str, float]) -> str:
    return f"{milliseconds['median']:g} / {milliseconds['p99']:g}" if milliseconds else "–"


if __name__ == "__main__":
    sys.exit(main())
