"""Parse reStructuredText into blocks of plain text."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise

from cofire.ingest.blocks import BlockEntry, DocumentBlock
from cofire.ingest.markdown_text import CODE_DIRECTIVES, DROPPED_DIRECTIVES, format_role, format_title, normalise_label

RstLine = tuple[int, str]  # line number and text

_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1*\s*")
_TARGET = re.compile(r"\.\. _(?P<name>`[^`]+`|(?:[^:\\]|\\.)+):(?:\s.*)?|__(?:\s.*)?|\.\. __:.*")
_SUBSTITUTION = re.compile(r"\.\. \|(?P<name>[^|]+)\|\s+(?P<directive>[\w-]+)::\s*(?P<text>.*)")
_FOOTNOTE = re.compile(r"\.\. \[(?P<label>[^\]]+)\]\s*(?P<text>.*)")
_DIRECTIVE = re.compile(r"\.\. (?P<name>[A-Za-z0-9][\w:.+-]*?)\s?::(?:\s+(?P<argument>.*))?")
_FIELD = re.compile(r":(?P<name>(?![\s:`])[^:\n`]*(?:\\:[^:\n`]*)*):(?:\s+(?P<text>.*))?")
_BULLET = re.compile(r"(?P<marker>[-*+•‣])(?:\s+|$)")
_NUMBER = re.compile(r"(?P<marker>\(?(?:\d{1,9}|[A-Za-z]|[ivxIVX]+|#)[.)])\s+(?=\S)")
_SIMPLE_BORDER = re.compile(r"=+(?: +=+)+\s*")
_GRID_BORDER = re.compile(r"\+(?:[-=]+\+)+\s*")
_CODE_START = re.compile(r">>> ")

_LITERAL = re.compile(r"(?<!`)``(?P<code>.+?)``(?!`)", re.DOTALL)
_ROLE = re.compile(r"(?<!\w):(?P<role>[A-Za-z][\w:+.-]*):`(?P<text>(?:[^`\\]|\\.)+)`")
_LINK = re.compile(r"(?<![\w`])`(?P<text>[^`<]+?)\s*<[^`<>]+>`__?(?!\w)", re.DOTALL)
_NAMED_LINK = re.compile(r"(?<![\w`])`(?P<text>[^`]+)`__?(?!\w)", re.DOTALL)
_WORD_LINK = re.compile(r"(?<![\w`/.])(?P<text>[A-Za-z][\w.+-]*?)__?(?!\w)")
_NOTE_LINK = re.compile(r"\s?\[(?:\d+|#[\w.-]*|\*)\]_(?!\w)")
_CITATION = re.compile(r"\[(?P<label>[A-Za-z][\w.-]*)\]_(?!\w)")
_SUBSTITUTED = re.compile(r"(?<![\w|])\|(?P<name>[^\s|](?:[^|\n]*[^\s|])?)\|_{0,2}(?![\w|])")
_INLINE_TARGET = re.compile(r"(?<!\w)_`(?P<text>[^`]+)`")
_EMPHASIS = re.compile(r"(?<![\w*\\])(?P<marks>\*{1,2})(?=[^\s*])(?P<text>[^*]*[^\s*\\])(?P=marks)(?![\w*])")
_ESCAPE = re.compile(r"\\(\s|.)", re.DOTALL)
_PLACEHOLDER = re.compile("\0(\\d+)\0")

_TITLED_DIRECTIVES = frozenset(
    "admonition topic sidebar tab tab-item group-tab dropdown details collapse card grid-item-card table rubric centered".split()
)
_VERSION_DIRECTIVES = {
    "versionadded": "Added in version",
    "versionchanged": "Changed in version",
    "versionremoved": "Removed in version",
    "deprecated": "Deprecated since version",
}
_TEXT_ARGUMENT_DIRECTIVES = frozenset(
    "note warning tip hint important caution danger attention error seealso todo epigraph highlights pull-quote compound".split()
)
_OBJECT_DIRECTIVES = frozenset(
    """function class method attribute data exception property decorator option cmdoption confval envvar describe object type macro
    member var enum struct command variable setting directive role program classmethod staticmethod decoratormethod event
    fixture globalvar hook""".split()
)
_MAX_DEPTH = 30  # nested blocks; deeper ones become a paragraph
_MAX_ROW_LENGTH = 100_000  # characters of a line of comma-separated values, within the limit of the csv module
_HIDDEN_FIELDS = frozenset("orphan tocdepth nocomments nosearch hide-toc no-search".split())


@dataclass(slots=True)
class _RstDocument:
    """State of a document: title styles in order of level, link targets, substitutions, nesting depth."""

    styles: list[tuple[bool, str]] = field(default_factory=list)
    targets: set[str] = field(default_factory=set)
    substitutions: dict[str, str] = field(default_factory=dict)
    depth: int = 0  # nesting depth of the current block


def parse_rst(text: str) -> Iterator[DocumentBlock]:
    """The blocks of a text. The level of a title depends on when its style first appears."""
    lines = [(number, line.expandtabs(8).rstrip()) for number, line in enumerate(text.split("\n"), start=1)]
    document = _RstDocument()
    for _, line in lines:
        if target := _TARGET.fullmatch(line.strip()):
            document.targets.add(normalise_label((target["name"] or "").strip("`")))
        elif substitution := _SUBSTITUTION.fullmatch(line.strip()):
            is_text = substitution["directive"] in ("replace", "unicode")
            if is_text or substitution["directive"] == "image":
                document.substitutions[substitution["name"]] = substitution["text"] if is_text else ""
    for block in _parse_blocks(lines, document, titles=True):
        if block.kind == "code" or block.entries or any(letter.isalnum() for letter in block.text):
            yield block


def rst_to_text(
    text: str, targets: frozenset[str] | set[str] = frozenset(), substitutions: Mapping[str, str] | None = None
) -> str:
    """The text without reStructuredText. Literals and names of code are in backticks.

    >>> rst_to_text(
    ...     "See :ref:`the plan <plan>`, `notes <https://a.org>`_ and ``x * y`` of :class:`~tea.Pot` [1]_, *hot*."
    ... )
    'See the plan, notes and `x * y` of `Pot`, hot.'
    """
    replacements = substitutions or {}
    spans: list[str] = []

    def protect(span: str) -> str:
        spans.append(span)
        return f"\0{len(spans) - 1}\0"

    def restored(place: re.Match[str]) -> str:
        number = int(place[1])
        return spans[number] if number < len(spans) else ""

    def word_link(link: re.Match[str]) -> str:
        return link["text"] if normalise_label(link["text"]) in targets else link[0]

    text = _LITERAL.sub(lambda literal: protect(f"`{literal['code']}`"), text.replace("\0", ""))
    text = _ROLE.sub(lambda role: protect(format_role(role["role"], _ESCAPE.sub(r"\1", role["text"]))), text)
    text = _ESCAPE.sub(lambda escape: protect("" if escape[1].isspace() else escape[1]), text)
    text = _SUBSTITUTED.sub(lambda name: replacements.get(name["name"], name["name"]), text)
    text = _NAMED_LINK.sub(r"\g<text>", _LINK.sub(r"\g<text>", _INLINE_TARGET.sub(r"\g<text>", text)))
    text = _CITATION.sub(r"\g<label>", _NOTE_LINK.sub("", text))
    text = _WORD_LINK.sub(word_link, text) if targets else text
    text = _EMPHASIS.sub(r"\g<text>", text)
    text = _PLACEHOLDER.sub(restored, text)
    return _PLACEHOLDER.sub(restored, text)  # a link may contain a literal


def _parse_blocks(lines: list[RstLine], document: _RstDocument, *, titles: bool) -> Iterator[DocumentBlock]:
    if document.depth >= _MAX_DEPTH:
        text = " ".join(line.strip() for _, line in lines if line)
        if text:
            yield DocumentBlock("paragraph", lines[0][0], _to_plain_text(text, document))
        return
    document.depth += 1
    yield from _parse_blocks_at_depth(lines, document, titles=titles)
    document.depth -= 1


def _parse_blocks_at_depth(lines: list[RstLine], document: _RstDocument, *, titles: bool) -> Iterator[DocumentBlock]:
    at = 0
    while at < len(lines):
        number, line = lines[at]
        if not line:
            at += 1
        elif titles and (title := _match_title(lines, at)):
            overlined, words = title
            style = (overlined, lines[at][1][0] if overlined else lines[at + 1][1][0])
            if style not in document.styles:
                document.styles.append(style)
            level = document.styles.index(style) + 1
            yield DocumentBlock("heading", number + overlined, _clean_title(words, document), level=level)
            at += 3 if overlined else 2
        elif line.startswith(".. ") or line == ".." or _TARGET.fullmatch(line):
            end = _find_indent_end(lines, at + 1, least=1)
            yield from _parse_explicit_markup(lines[at:end], document)
            at = end
        elif _SIMPLE_BORDER.fullmatch(line) or _GRID_BORDER.fullmatch(line):
            end = _find_table_end(lines, at)
            yield from _parse_table(lines[at:end], document)
            at = end
        elif line[0] == " ":
            end = _find_indent_end(lines, at, least=1)
            yield from _parse_blocks(_dedent_lines(lines[at:end]), document, titles=False)
            at = end
        elif _is_item_start(lines, at):
            entries, at = _parse_items(lines, at, document)
            if entries:
                yield DocumentBlock("list", number, "", entries=entries)
        elif _CODE_START.match(line):
            end = _find_blank_line(lines, at)
            yield _make_code_block(lines[at:end], "pycon")
            at = end
        else:
            blocks, at = _parse_paragraph(lines, at, document)
            yield from blocks


def _match_title(lines: list[RstLine], at: int) -> tuple[bool, str] | None:
    """The title that starts here: whether it has an overline, and its text."""
    texts = [line for _, line in lines[at : at + 3]]
    if len(texts) == 3 and _is_adornment(texts[0]) and texts[2] == texts[0] and texts[1].strip():
        return True, texts[1].strip()
    if len(texts) < 2 or not _is_adornment(texts[1]) or texts[0][0] == " " or _is_adornment(texts[0]):
        return None
    title, underline = texts[:2]
    is_long_enough = len(underline) >= 4 or len(underline) >= len(title)
    return (False, title) if is_long_enough and underline != "::" else None


def _is_adornment(line: str) -> bool:
    return len(line) >= 2 and _ADORNMENT.fullmatch(line) is not None and line not in ("..", "::", "__")


def _clean_title(title: str, document: _RstDocument) -> str:
    return " ".join(_to_plain_text(title, document).replace("`", "").split())


def _to_plain_text(text: str, document: _RstDocument) -> str:
    return rst_to_text(text, document.targets, document.substitutions)


def _find_indent_end(lines: list[RstLine], at: int, *, least: int) -> int:
    """The line after those that are blank or indented by at least `least`."""
    end = last = at
    while end < len(lines) and (not lines[end][1] or lines[end][1][:least].isspace()):
        end += 1
        if lines[end - 1][1]:
            last = end
    return last


def _dedent_lines(lines: list[RstLine]) -> list[RstLine]:
    least = min((len(line) - len(line.lstrip()) for _, line in lines if line), default=0)
    return [(number, line[least:]) for number, line in lines]


def _find_blank_line(lines: list[RstLine], at: int) -> int:
    while at < len(lines) and lines[at][1]:
        at += 1
    return at


def _make_code_block(lines: list[RstLine], language: str) -> DocumentBlock:
    while lines and not lines[0][1].strip():
        lines = lines[1:]
    code = "\n".join(line for _, line in _dedent_lines(lines)).rstrip()
    fence = "````" if "```" in code else "```"
    return DocumentBlock("code", lines[0][0] if lines else 0, f"{fence}{language}\n{code}\n{fence}")


def _parse_explicit_markup(lines: list[RstLine], document: _RstDocument) -> Iterator[DocumentBlock]:
    """A directive, footnote or citation. Targets, substitutions and comments have no text."""
    number, first = lines[0]
    if _TARGET.fullmatch(first) or _SUBSTITUTION.fullmatch(first):
        return
    if note := _FOOTNOTE.fullmatch(first):
        yield from _parse_blocks([(number, note["text"]), *_dedent_lines(lines[1:])], document, titles=False)
    elif directive := _DIRECTIVE.fullmatch(first):
        body = _dedent_lines(lines[1:])
        yield from _parse_directive(directive["name"].lower(), directive["argument"] or "", number, body, document)


def _parse_directive(
    name: str, argument: str, number: int, body: list[RstLine], document: _RstDocument
) -> Iterator[DocumentBlock]:
    kind = name.rpartition(":")[2]
    if kind in DROPPED_DIRECTIVES or name in DROPPED_DIRECTIVES or kind.startswith("auto"):
        return
    content = body[_find_content(kind, body) :]
    if kind in CODE_DIRECTIVES:
        if any(line for _, line in content):
            names_language = argument and kind.startswith(("code", "sourcecode"))
            yield _make_code_block(content, argument.split(maxsplit=1)[0] if names_language else "")
        elif argument.strip():
            yield _make_code_block([(number, argument)], "")
        return
    if kind in ("list-table", "csv-table"):
        yield from _parse_listed_table(kind, number, content, document)
        return
    yield from _prepend_lead(
        _format_lead(kind, argument, document), number, list(_parse_blocks(content, document, titles=False))
    )


def _find_content(kind: str, body: list[RstLine]) -> int:
    """The first line after the additional signatures and the options of a directive."""
    start = 0
    if kind in _OBJECT_DIRECTIVES and kind not in _TEXT_ARGUMENT_DIRECTIVES:
        while start < len(body) and body[start][1] and not _FIELD.fullmatch(body[start][1]):
            start += 1
    while start < len(body) and _FIELD.fullmatch(body[start][1]):
        start += 1
        if start < len(body) and body[start][1][:1] == " ":
            start = _find_indent_end(body, start, least=1)
    return start


def _format_lead(kind: str, argument: str, document: _RstDocument) -> str:
    """The text of the first line of a directive."""
    if not argument:
        return ""
    if kind in _VERSION_DIRECTIVES:
        version, _, text = argument.partition(" ")
        lead = f"{_VERSION_DIRECTIVES[kind]} {version}:"
        return f"{lead} {_to_plain_text(text.strip(), document)}" if text else lead
    if kind in _TEXT_ARGUMENT_DIRECTIVES:
        return _to_plain_text(argument, document)
    if kind in _TITLED_DIRECTIVES:
        return format_title(_to_plain_text(argument, document))
    return f"`{argument.strip()}`:" if kind in _OBJECT_DIRECTIVES else ""


def _prepend_lead(lead: str, number: int, content: list[DocumentBlock]) -> Iterator[DocumentBlock]:
    """Blocks with the text of a directive before them."""
    if lead and content and content[0].kind == "paragraph":
        content[0] = replace(content[0], line=number, text=f"{lead} {content[0].text}")
    elif lead:
        if not content and lead.endswith(":"):
            lead = lead.removesuffix(":") + "."
        yield DocumentBlock("paragraph", number, lead)
    yield from content


def _is_item_start(lines: list[RstLine], at: int) -> bool:
    """Whether a list item, a field, or a term with its definition starts here."""
    line = lines[at][1]
    is_term = at + 1 < len(lines) and lines[at + 1][1][:1] == " " and not line.endswith("::")
    return bool(
        _BULLET.match(line) or _NUMBER.match(line) or _FIELD.fullmatch(line) or line.startswith("| ") or is_term
    )


def _parse_items(lines: list[RstLine], at: int, document: _RstDocument) -> tuple[tuple[BlockEntry, ...], int]:
    entries: list[BlockEntry] = []
    while at < len(lines) and lines[at][1] and lines[at][1][0] != " " and _is_item_start(lines, at):
        if lines[at][1].startswith(".. ") or _SIMPLE_BORDER.fullmatch(lines[at][1]):
            break
        end = _find_indent_end(lines, at + 1, least=1)
        number = lines[at][0]
        text = _format_entry(lines[at:end], document)
        if any(letter.isalnum() for letter in text):
            entries.append(BlockEntry(number, text))
        at = end
        while at < len(lines) and not lines[at][1]:
            at += 1
    return tuple(entries), at


def _format_entry(lines: list[RstLine], document: _RstDocument) -> str:
    """An item as text, with everything below it."""
    number, first = lines[0]
    rest = _dedent_lines(lines[1:])
    if marker := _BULLET.match(first) or _NUMBER.match(first):
        words = [(number, first[marker.end() :]), *rest]
        inner = _join_block_texts(list(_parse_blocks(words, document, titles=False)))
        return f"{marker['marker']} " + inner.replace("\n", "\n  ")
    if first.startswith("| "):
        return _to_plain_text(" ".join([first[2:].strip(), *(line.strip() for _, line in rest)]), document)
    if entry := _FIELD.fullmatch(first):
        words = [(number, entry["text"] or ""), *rest]
        inner = _join_block_texts(list(_parse_blocks(words, document, titles=False)))
        name = entry["name"].replace("\\", "")
        return "" if name in _HIDDEN_FIELDS or not inner else f"{name}: {inner}"
    inner = _join_block_texts(list(_parse_blocks(rest, document, titles=False)))
    separator = "\n" if inner.startswith("```") else " "
    return f"{format_title(_to_plain_text(first, document))}{separator}{inner}"


def _join_block_texts(content: list[DocumentBlock]) -> str:
    parts: list[str] = []
    for block in content:
        parts.append(block.text)
        parts += [entry.text for entry in block.entries]
    return "\n".join(part for part in parts if part)


def _parse_paragraph(lines: list[RstLine], at: int, document: _RstDocument) -> tuple[list[DocumentBlock], int]:
    """A paragraph, and the literal block that it announces with two colons."""
    number = lines[at][0]
    end = at + 1
    while end < len(lines) and lines[end][1] and not lines[end][1].startswith(".. "):
        end += 1
    text = " ".join(line.strip() for _, line in lines[at:end])
    blocks: list[DocumentBlock] = []
    if not text.endswith("::"):
        if any(letter.isalnum() for letter in text):
            blocks.append(DocumentBlock("paragraph", number, _to_plain_text(text, document)))
        return blocks, end
    words = text[:-2].rstrip() + (":" if len(text) > 2 and not text[-3].isspace() else "")
    if words.strip(":"):
        blocks.append(DocumentBlock("paragraph", number, _to_plain_text(words, document)))
    literal = _find_indent_end(lines, end, least=1)
    if any(line for _, line in lines[end:literal]):
        blocks.append(_make_code_block(lines[end:literal], ""))
        end = literal
    return blocks, end


def _find_table_end(lines: list[RstLine], at: int) -> int:
    """The line after a table: the next blank one for a grid, the last border for a simple table."""
    if lines[at][1].startswith("+"):
        return _find_blank_line(lines, at)
    end = at + 1
    borders = 1
    while end < len(lines):
        if _SIMPLE_BORDER.fullmatch(lines[end][1]):
            borders += 1
            if borders == 3 or end + 1 == len(lines) or not lines[end + 1][1]:
                return end + 1
        end += 1
    return _find_blank_line(lines, at)


def _parse_table(lines: list[RstLine], document: _RstDocument) -> Iterator[DocumentBlock]:
    """The rows of a table. Each cell follows the name of its column if there is a header."""
    border = lines[0][1]
    edge = "+" if border.startswith("+") else " "
    starts = _find_columns(border, edge)
    header: list[str] = []
    rows: list[tuple[int, list[str]]] = []
    is_new = True
    for number, line in lines[1:]:
        if (edge == "+" and line.startswith("+")) or (edge == " " and line and not line.strip("= -")):
            if not header and rows and "=" in line and number != lines[-1][0]:
                header, rows = [" ".join(cells) for cells in zip(*(cells for _, cells in rows), strict=True)], []
            is_new = True
            continue
        cells = _split_cells(line, starts, edge)
        if rows and (not is_new if edge == "+" else not cells[0]):
            rows[-1] = (
                rows[-1][0],
                [f"{above} {cell}".strip() for above, cell in zip(rows[-1][1], cells, strict=True)],
            )
        elif any(cells):
            rows.append((number, cells))
        is_new = edge == " "
    yield from _make_table_block(lines[0][0], header, rows, document)


def _find_columns(border: str, edge: str) -> list[int]:
    if edge == "+":
        return [place + 1 for place, mark in enumerate(border) if mark == "+"][:-1]
    return [match.start() for match in re.finditer("=+", border)]


def _split_cells(line: str, starts: list[int], edge: str) -> list[str]:
    is_grid = edge == "+"
    cells = []
    for start, next_start in pairwise([*starts, None]):
        end = next_start - 1 if is_grid and next_start is not None else next_start
        cell = line[start:end].strip()
        cells.append(cell.strip("|").strip() if is_grid else cell)
    return cells


def _parse_listed_table(
    kind: str, number: int, content: list[RstLine], document: _RstDocument
) -> Iterator[DocumentBlock]:
    """The rows of a list-table or csv-table."""
    rows: list[tuple[int, list[str]]] = []
    for place, line in content:
        if kind == "csv-table":
            if line:
                cells = next(csv.reader([line], skipinitialspace=True)) if len(line) < _MAX_ROW_LENGTH else [line]
                rows.append((place, [cell.strip() for cell in cells]))
        elif line.startswith("* -"):
            rows.append((place, [line[3:].strip()]))
        elif rows and (line.startswith("  - ") or line == "  -"):
            rows[-1][1].append(line[3:].strip())
        elif rows and line.strip():
            rows[-1][1][-1] += f" {line.strip()}"
    yield from _make_table_block(number, [], rows, document)


def _make_table_block(
    number: int, header: list[str], rows: list[tuple[int, list[str]]], document: _RstDocument
) -> Iterator[DocumentBlock]:
    entries = []
    for line, cells in rows:
        names = header or [""] * len(cells)
        pairs = [(name, cell) for name, cell in zip(names, cells, strict=False) if cell and cell != "\\"]
        text = "; ".join(f"{name}: {cell}" if name else cell for name, cell in pairs)
        if any(letter.isalnum() for letter in text):
            entries.append(BlockEntry(line, _to_plain_text(text, document)))
    if entries:
        yield DocumentBlock("table", number, "", entries=tuple(entries))
