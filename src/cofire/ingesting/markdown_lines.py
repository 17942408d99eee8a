"""Lines of Markdown that are marks, not text: link definitions, admonitions, containers, directives, anchors. Line numbers stay. No I/O."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable

from cofire.ingesting.cutting import behind_marker, fence_after
from cofire.ingesting.markdown_inline import normal_label

_DEFINITION = re.compile(
    r"[ >]*\[(?P<label>[^\[\]^][^\[\]]*)\]:[ \t]*(?:<[^<>]*>|\S+)(?:[ \t]+(?:\"[^\"]*\"|'[^']*'|\([^()]*\)))?[ \t]*"
)
_DEFINED_BELOW = re.compile(r" {0,3}\[(?P<label>[^\[\]^][^\[\]]*)\]:[ \t]*")
_ADDRESS = re.compile(r"[ \t]+(?:<[^<>]*>|[^\s<>]*[/#.][^\s<>]*)[ \t]*")
_FOOTNOTE = re.compile(r" {0,3}\[\^[^\[\]\s]+\]:[ \t]*")
_ABBREVIATION = re.compile(r" {0,3}\*\[(?P<short>[^\[\]]+)\]:[ \t]*(?P<long>.*)")
_ADMONITION = re.compile(
    r"(?P<indent>[ \t]*)(?:!!!|\?{3}\+?|={3}[!+]?)[ \t]+(?P<rest>(?:[\w-][\w -]*)?(?:\"(?P<title>.*)\")?)[ \t]*"
)
_ALERT = re.compile(r"(?P<quote>[ ]{0,3}>[ ]?)\[!\w+\][+-]?[ \t]*(?P<title>.*)")
_CONTAINER = re.compile(r"(?P<indent>[ \t]*)(?P<colons>:{3,})[ \t]*(?P<rest>.*?)[ \t]*")
_DIRECTIVE = re.compile(
    r"(?P<indent>[ \t]*)(?P<marks>`{3,}|~{3,}|:{3,})[ \t]*\{(?P<name>[\w:.+-]+)\}[ \t]*(?P<argument>.*?)[ \t]*"
)
_CLOSER = re.compile(r"[ \t]*(?:`{3,}|~{3,}|:{3,})[ \t]*")
_OPTION = re.compile(r"[ \t]*:[\w-]+:(?:[ \t].*)?")
_MARK_ONLY = re.compile(
    r"[ \t]*(?:"
    r"\([\w.:-]+\)="  # a label of MyST
    r"|\{:?[ \t]*[#.][^{}]*\}|\{:[^{}]*\}"  # attributes of the block above
    r"|\{[%!*].*[%!*]\}"  # templates and included files
    r"|;*-+8<-+.*"  # included snippets
    r"|\[\[?_?TOC_?\]?\]"
    r"|%[ \t].*"  # a comment of MyST
    r")[ \t]*",
    re.IGNORECASE,
)
_HTML_HEADING = re.compile(r"[ \t]*<h(?P<level>[1-6])(?:\s[^<>]*)?>(?P<text>.+)</h(?P=level)>[ \t]*", re.IGNORECASE)
_DEFINITION_MARK = re.compile(r" {0,3}:(?: {1,3}|\t)(?=\S)")
_NAMES = re.compile(r"[\w-]+(?:\.[\w-]+)+")  # a module whose documentation mkdocstrings fills in

CODE_DIRECTIVES = frozenset(
    """code code-block sourcecode code-cell parsed-literal prompt doctest testcode testoutput testsetup ipython console math
    productionlist jinja cmake literal""".split()
)
DROPPED_DIRECTIVES = frozenset(
    """toctree contents image include literalinclude raw index module currentmodule py:module py:currentmodule highlight meta
    default-domain default-role role sectionauthor codeauthor moduleauthor graphviz digraph graph mermaid plot inheritance-diagram
    autosummary testcleanup bibliography sectnum target-notes header footer title program tabularcolumns acks-only
    eval-rst click programoutput command-output include-raw unicode date only-html spelling""".split()
)


def prepared(text: str) -> tuple[list[str], frozenset[str]]:
    """The lines of a text without those that are marks, and the labels of its link definitions."""
    lines = text.split("\n")
    lines = _without_directives(lines)
    lines = _without_admonitions(_without_definition_marks(lines))
    labels: set[str] = set()
    below = [False]

    def change(line: str) -> str:
        if below[0]:
            below[0] = False
            if _ADDRESS.fullmatch(line):
                return ""
        if definition := _DEFINITION.fullmatch(line) or _DEFINED_BELOW.fullmatch(line):
            labels.add(normal_label(definition["label"]))
            below[0] = definition.re is _DEFINED_BELOW
            return ""
        if abbreviation := _ABBREVIATION.fullmatch(line):
            return f"{abbreviation['short']}: {abbreviation['long']}"
        if alert := _ALERT.fullmatch(line):
            return alert["quote"] + titled(alert["title"])
        if heading := _HTML_HEADING.fullmatch(line):
            return f"{'#' * int(heading['level'])} {heading['text']}"
        return "" if _MARK_ONLY.fullmatch(line) else _FOOTNOTE.sub("", line, count=1)

    return _each_outside_code(lines, change), frozenset(labels)


def titled(title: str) -> str:
    """A title as the opening of what it stands over.

    >>> titled("Mind the gap"), titled("Really?"), titled("")
    ('Mind the gap:', 'Really?', '')
    """
    words = title.strip()
    last = words.rstrip("*_")[-1:]
    return f"{words}:" if last.isalnum() or (last and last in ")`\"'") else words


def _each_outside_code(lines: list[str], change: Callable[[str], str]) -> list[str]:
    fence: str | None = None
    changed: list[str] = []
    for line in lines:
        after = fence_after(behind_marker(line) if fence is None else line, fence)
        changed.append(line if fence is not None or after is not None else change(line))
        fence = after
    return changed


def _without_directives(lines: list[str]) -> list[str]:
    """Directives of MyST, between fences or colons, and containers: the content of notes stays, that of code becomes a fence."""
    lines = list(lines)
    closers = [place for place, line in enumerate(lines) if _CLOSER.fullmatch(line)]
    at = 0
    fence: str | None = None
    while at < len(lines):
        directive = _DIRECTIVE.fullmatch(lines[at]) if fence is None else None
        container = _CONTAINER.fullmatch(lines[at]) if fence is None and directive is None else None
        if directive is not None and (end := _closing(lines, closers, at, directive["marks"])) is not None:
            _open_directive(lines, at, end, directive)
        elif container is not None:
            _open_container(lines, closers, at, container)
        else:
            fence = fence_after(behind_marker(lines[at]) if fence is None else lines[at], fence)
            at += 1
            continue
        fence = fence_after(lines[at], None)
        at += 1
    return lines


def _closing(lines: list[str], closers: list[int], at: int, marks: str) -> int | None:
    """The line that closes a directive: as many of the same marks, or more, and nothing else."""
    for place in closers[bisect_right(closers, at) :]:
        line = lines[place].strip()
        if len(line) >= len(marks) and not line.strip(marks[0]):
            return place
    return None


def _open_directive(lines: list[str], at: int, end: int, directive: re.Match[str]) -> None:
    name = directive["name"].lower()
    indent, argument = directive["indent"], directive["argument"]
    is_code = name in CODE_DIRECTIVES
    if name in DROPPED_DIRECTIVES or name.startswith("auto"):
        lines[at : end + 1] = [""] * (end + 1 - at)
        return
    for place in _options(lines, at + 1, end):
        lines[place] = ""
    if is_code:
        marks = directive["marks"] if directive["marks"][0] in "`~" else "```"
        lines[at], lines[end] = f"{indent}{marks}{argument}", f"{indent}{marks}"
        return
    lines[at] = indent + titled(argument) if argument else ""
    lines[end] = ""


def _options(lines: list[str], at: int, end: int) -> range:
    """The lines of a directive's options: fields, or YAML between rules."""
    stop = at
    if at < end and lines[at].strip() == "---":
        closing = next((place for place in range(at + 1, end) if lines[place].strip() == "---"), None)
        return range(at, at if closing is None else closing + 1)
    while stop < end and _OPTION.fullmatch(lines[stop]):
        stop += 1
    return range(at, stop)


def _open_container(lines: list[str], closers: list[int], at: int, container: re.Match[str]) -> None:
    """A container is left out, its title stays; one that is never closed names code whose options stand indented below."""
    indent, rest = container["indent"], container["rest"]
    end = _closing(lines, closers, at, container["colons"]) if rest else None
    if rest and end is None and _NAMES.fullmatch(rest):
        place = at + 1
        while place < len(lines) and lines[place].strip() and lines[place].startswith(indent + "  "):
            lines[place] = ""
            place += 1
    title = re.sub(r"^[\w-]+[ \t]*|\{[^{}]*\}|\[|\]", "", rest) if end is not None else ""
    lines[at] = indent + titled(title) if title.strip() else ""


def _without_definition_marks(lines: list[str]) -> list[str]:
    """Terms and their definitions as paragraphs: `term`, then `:   definition`, becomes `term:`, then `definition`."""
    lines = list(lines)
    term: int | None = None  # the line of the last text at the margin
    fence: str | None = None
    for at, line in enumerate(lines):
        after = fence_after(behind_marker(line) if fence is None else line, fence)
        mark = _DEFINITION_MARK.match(line) if fence is None and term is not None else None
        if mark is not None and term is not None:
            lines[term] = titled(lines[term])
            _dedent(lines, at + 1, "")
            lines[at] = line[mark.end() :].lstrip()
        elif fence is None and line.strip():
            term = at if after is None and not line.startswith((" ", "\t", "#", ">", "|")) else None
        fence = after
    return lines


def _without_admonitions(lines: list[str]) -> list[str]:
    """Admonitions and tabs by indentation: the mark is left out, its title stays, and what it holds moves out by its indentation."""
    done = list(lines)
    fence: str | None = None
    for at in range(len(done)):
        after = fence_after(behind_marker(done[at]) if fence is None else done[at], fence)
        if fence is None and after is None and (mark := _ADMONITION.fullmatch(done[at])) and mark["rest"]:
            _dedent(done, at + 1, mark["indent"])
            title = titled(mark["title"] or "")
            done[at] = mark["indent"] + title if title else ""
        fence = after
    return done


def _dedent(lines: list[str], at: int, indent: str) -> None:
    inner = indent + "    "
    for place in range(at, len(lines)):
        line = lines[place].expandtabs(4) if lines[place].startswith("\t") else lines[place]
        if line.strip() and not line.startswith(inner):
            return
        lines[place] = indent + line[len(inner) :] if line.strip() else ""
