"""Parse Markdown into blocks of plain text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import zip_longest

from cofire.ingest.blocks import BlockEntry, DocumentBlock
from cofire.ingest.markdown_text import (
    HTML_TAG,
    MDX_COMPONENT,
    change_outside_code,
    format_title,
    is_only_images,
    markdown_to_text,
    prepare_lines,
)
from cofire.ingest.text_pieces import strip_list_marker, update_fence

Lines = Sequence[str]
ParsedBlock = tuple[DocumentBlock | None, int]  # a block, or None, and the line after it

_HEADING = re.compile(r" {0,3}(?P<marks>#{1,6})(?:[ \t]+(?P<title>.*))?")
_UNDERLINE = re.compile(r" {0,3}(?P<mark>=+|-+)[ \t]*")
_RULE = re.compile(r" {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})")
_ITEM = re.compile(r" {0,3}(?:[-*+]|(?P<number>\d{1,9})[.)])(?:[ \t].*)?")
_TABLE_DELIMITER = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*")
_PREFORMATTED = re.compile(r" {0,3}<pre(?:\s[^<>]*)?>", re.IGNORECASE)
_INDENTED = re.compile(r" {4}|\t")
_ITEM_INDENT = re.compile(r" {2}|\t")
_QUOTE = re.compile(r"^ {0,3}> ?")
_CODE = (
    r"^(?:[ \t>]|[-*+][ \t]|\d{1,9}[.)][ \t])*(?P<fence>`{3,}(?=[^`\n]*$)|~{3,})[^\n]*\n.*?(?:^[ \t>]*(?P=fence)[`~]*[ \t]*$|\Z)"
    r"|`[^`\n]+`"
)
_HIDDEN_PARTS = {  # the end of a hidden part, and code or such a part
    end: re.compile(rf"{_CODE}|{opening}.*?{end}", re.DOTALL | re.MULTILINE)
    for opening, end in (("<!--", "-->"), (r"<script\b[^<>]*>", "</script>"), (r"<style\b[^<>]*>", "</style>"))
}
_MDX = (
    r"^import\s+(?:[\w$]+\s*,?\s*)?(?:\{[^{}]*\}\s*|\*\s+as\s+\w+\s+)?from\s+['\"][^'\"\n]+['\"];?[ \t]*$"
    r"|^import\s+['\"][^'\"\n]+['\"];?[ \t]*$"
    r"|^export\s+(?:const|let|function|default)\s[^\n]*(?:\n(?![ \t]*$)[^\n]*)*"
    r"|\{/\*(?:(?!\{/\*).)*?\*/\}"
)
_CLOSED_COMPONENT = re.compile(r"</([A-Z][\w.]*)>|<([A-Z][\w.]*)(?:\s[^<>]*)?/>")
_LABEL = re.compile(r"\s(?:label|title)=(?P<quote>[\"'])(?P<text>[^\"'<>]+)(?P=quote)")
_CONTENTS_LINE = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])[ \t]+\[[^\[\]]*(?:\[[^\[\]]*\][^\[\]]*)?\]\(#[^()\s]*\)\s*")
_RULE_LINE = re.compile(r"^[ \t]+(?:-{3,}|\*{3,}|_{3,})[ \t]*$", re.MULTILINE)  # in a list item
_HEADING_MARK = re.compile(r"[ \t]+#+[ \t]*$")
_CODE_SPAN = re.compile(r"`+([^`]+)`+")
_CELL_PART = re.compile(r"\\.|(?<!`)(`+)(?!`).+?(?<!`)\1(?!`)|.", re.DOTALL)
_FIRST_UNSPACED_LETTER = "\u2e80"  # scripts without spaces start here


def parse_markdown(text: str, *, first_line: int) -> Iterator[DocumentBlock]:
    """The blocks of a text whose first line has the number `first_line`."""
    lines, labels = prepare_lines(remove_components(remove_comments(text)))
    at = 0
    while at < len(lines):
        block, after = _parse_block(lines, at, first_line + at)
        readable = _to_plain_block(block, labels) if block is not None else None
        if readable is not None:
            yield readable
        at = after


def _to_plain_block(block: DocumentBlock, labels: frozenset[str]) -> DocumentBlock | None:
    """A block in plain text. None if only markup is left."""

    def readable(text: str) -> str:
        return change_outside_code(text, lambda prose: markdown_to_text(_RULE_LINE.sub("", prose), labels)).strip()

    if block.kind == "code":
        return block
    if block.kind == "heading":
        words = _clean_title(block.text, labels)
        return replace(block, text=words) if words else None
    if is_only_images(block.text) or _is_table_of_contents(block):
        return None
    entries = [
        BlockEntry(entry.line, readable(entry.text)) for entry in block.entries if not is_only_images(entry.text)
    ]
    entries = [entry for entry in entries if _has_words(entry.text)]
    text = readable(block.text)
    return replace(block, text=text, entries=tuple(entries)) if entries or _has_words(text) else None


def _is_table_of_contents(block: DocumentBlock) -> bool:
    """Whether a list only has links to headings of its own page."""
    if block.kind != "list" or block.text:
        return False
    text = "\n".join(entry.text for entry in block.entries)
    return all(_CONTENTS_LINE.fullmatch(line) for line in text.split("\n") if line.strip())


def remove_comments(text: str) -> str:
    """Remove HTML comments, scripts and styles outside code. Line numbers stay.

    >>> remove_comments("a <!-- b\\n c --> d\\n```\\n<!-- e -->\\n```")
    'a \\n d\\n```\\n<!-- e -->\\n```'
    """
    for end, code_or_hidden in _HIDDEN_PARTS.items():
        last = text.rfind(end)
        if last >= 0:
            stop = text.find("\n", last) + 1 or len(text)
            text = code_or_hidden.sub(_replace_comment, text[:stop]) + text[stop:]
    return text


def _replace_comment(match: re.Match[str]) -> str:
    return "\n" * match[0].count("\n") if match[0].startswith("<") else match[0]


def remove_components(text: str) -> str:
    """Remove imports, exports, comments and component tags of MDX outside code. Line numbers stay.

    A name in angle brackets may also be a type, as in List<String>: only tags that are closed count.

    >>> remove_components("import A from 'a';\\n<Tab label='Tea'>Hot.</Tab> List<Cup>, `<Tab>`")
    '\\nTea: Hot. List<Cup>, `<Tab>`'
    """
    names = sorted({name for pair in _CLOSED_COMPONENT.findall(text) for name in pair if name})
    tags = rf"|</?(?:{'|'.join(map(re.escape, names))})(?:\s(?:[^<>]|=>)*)?/?>" if names else ""
    return re.sub(rf"{_CODE}|(?P<mdx>{_MDX}{tags})", _replace_component, text, flags=re.DOTALL | re.MULTILINE)


def _replace_component(match: re.Match[str]) -> str:
    if match["mdx"] is None:
        return match[0]
    label = _LABEL.search(match[0]) if match[0].startswith("<") else None
    return (f"{format_title(label['text'])} " if label else "") + "\n" * match[0].count("\n")


def _parse_block(lines: Lines, at: int, line: int) -> ParsedBlock:
    if not lines[at].strip():
        return None, at + 1
    if update_fence(lines[at], None) is not None:
        return _parse_fenced(lines, at, line)
    if _PREFORMATTED.match(lines[at]):
        return _parse_preformatted(lines, at, line)
    if _INDENTED.match(lines[at]):
        return _parse_indented(lines, at, line)
    if heading := _HEADING.fullmatch(lines[at]):
        return _make_heading(heading["title"] or "", len(heading["marks"]), line), at + 1
    if _RULE.fullmatch(lines[at]):
        return None, at + 1
    if _is_table_start(lines, at):
        return _parse_table(lines, at, line)
    if _ITEM.fullmatch(lines[at]):
        return _parse_list(lines, at, line)
    return _parse_paragraph(lines, at, line)


def _make_heading(title: str, level: int, line: int) -> DocumentBlock:
    return DocumentBlock("heading", line, " ".join(title.split()), level=level)


def _clean_title(title: str, labels: frozenset[str]) -> str:
    """The plain words of a heading.

    >>> _clean_title("**The** `_door_[x]()` [of](#of) cofire ##", frozenset())
    'The _door_[x]() of cofire'
    """
    words = markdown_to_text(_HEADING_MARK.sub("", title), labels)
    return " ".join(_CODE_SPAN.sub(r"\1", words).split())


def _parse_fenced(lines: Lines, at: int, line: int) -> ParsedBlock:
    end = _find_fence_end(lines, at)
    return DocumentBlock("code", line, "\n".join(lines[at:end])), end


def _find_fence_end(lines: Lines, at: int) -> int:
    """The line after the fence that opens here closes, at most the end of the text."""
    fence = update_fence(strip_list_marker(lines[at]), None)
    end = at + 1
    while end < len(lines) and fence is not None:
        fence = update_fence(lines[end], fence)
        end += 1
    return end


def _parse_preformatted(lines: Lines, at: int, line: int) -> ParsedBlock:
    """The lines from <pre> to </pre>, or to the end of the text."""
    end = at
    while end < len(lines) and "</pre>" not in lines[end].lower():
        end += 1
    end = min(end + 1, len(lines))
    text = "\n".join(lines[at:end]).rstrip()
    return (DocumentBlock("code", line, text) if _has_words(text) else None), end


def _parse_indented(lines: Lines, at: int, line: int) -> ParsedBlock:
    end = at
    while end < len(lines) and (_INDENTED.match(lines[end]) or not lines[end].strip()):
        end += 1
    return DocumentBlock("code", line, "\n".join(lines[at:end]).rstrip()), end


def _is_table_start(lines: Lines, at: int) -> bool:
    return (
        at + 1 < len(lines)
        and "|" in lines[at]
        and "|" in lines[at + 1]
        and _TABLE_DELIMITER.fullmatch(lines[at + 1]) is not None
    )


def _parse_table(lines: Lines, at: int, line: int) -> ParsedBlock:
    end = at + 2
    while end < len(lines) and "|" in lines[end]:
        end += 1
    header = _split_cells(lines[at])
    rows = tuple(
        BlockEntry(line + place - at, _format_row(header, _split_cells(lines[place]))) for place in range(at + 2, end)
    )
    return DocumentBlock("table", line, "" if rows else "; ".join(cell for cell in header if cell), entries=rows), end


def _split_cells(line: str) -> list[str]:
    r"""The cells of a row. A bar in code or after a backslash is no separator.

    >>> _split_cells(r"| a | `b|c` | d\|e ||")
    ['a', '`b|c`', 'd\\|e', '']
    """
    cells, cell = list[str](), ""
    for part in _CELL_PART.finditer(line.strip().removeprefix("|")):
        if part[0] == "|":
            cells.append(cell.strip())
            cell = ""
        else:
            cell += part[0]
    return [*cells, cell.strip()] if cell.strip() else cells


def _format_row(header: Sequence[str], cells: Sequence[str]) -> str:
    """A row as text: each cell after the name of its column.

    >>> _format_row(["drink", "how"], ["tea", "hot"])
    'drink: tea; how: hot'
    """
    pairs = [(name, cell) for name, cell in zip_longest(header, cells, fillvalue="") if cell]
    return "; ".join(f"{name}: {cell}" if name else cell for name, cell in pairs)


def _parse_list(lines: Lines, at: int, line: int) -> ParsedBlock:
    starts, end = _find_items(lines, at)
    entries = []
    for start, stop in zip(starts, [*starts[1:], end], strict=True):
        text = "\n".join(lines[start:stop]).rstrip()
        entries.append(BlockEntry(line + start - at, text))
    return DocumentBlock("list", line, "", entries=tuple(entries)), end


def _find_items(lines: Lines, at: int) -> tuple[list[int], int]:
    """The first lines of the items of a list, and the line after it. Indented and continuation lines
    belong to the item above.
    """
    starts = [at]
    end = _find_fence_end(lines, at)
    while (here := _skip_blank_lines(lines, end)) < len(lines):
        if _RULE.fullmatch(lines[here]):
            break
        if _ITEM.fullmatch(lines[here]) and not _is_nested(lines[here], lines[starts[-1]]):
            starts.append(here)
        elif not _ITEM_INDENT.match(lines[here]) and (here > end or _is_block_start(lines, here)):
            break
        end = _find_fence_end(lines, here)
    return starts, end


def _skip_blank_lines(lines: Lines, at: int) -> int:
    """The first line from `at` on that is not blank."""
    while at < len(lines) and not lines[at].strip():
        at += 1
    return at


def _is_nested(line: str, above: str) -> bool:
    """Whether an item is indented below the text of the item above."""
    return _measure_indent(line) - _measure_indent(above) >= 2


def _measure_indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _is_block_start(lines: Lines, at: int) -> bool:
    """Whether a line ends the paragraph before it. Numbered lists only do if they start at 1."""
    item = _ITEM.fullmatch(lines[at])
    return (
        not lines[at].strip()
        or update_fence(lines[at], None) is not None
        or _PREFORMATTED.match(lines[at]) is not None
        or _HEADING.fullmatch(lines[at]) is not None
        or _RULE.fullmatch(lines[at]) is not None
        or (item is not None and item["number"] in (None, "1"))
        or _is_table_start(lines, at)
    )


def _parse_paragraph(lines: Lines, at: int, line: int) -> ParsedBlock:
    end = at + 1
    while end < len(lines):
        underline = _UNDERLINE.fullmatch(lines[end])
        if underline is not None and not _QUOTE.match(lines[at]):
            return _make_heading(" ".join(lines[at:end]), 1 if underline["mark"][0] == "=" else 2, line), end + 1
        if _is_block_start(lines, end):
            break
        end += 1
    text = unwrap_lines(lines[at:end])
    return (DocumentBlock("paragraph", line, text) if _has_words(text) else None), end


def unwrap_lines(lines: Lines) -> str:
    """The lines of a paragraph as one line.

    A line that ends in two spaces or a backslash keeps its break, as do lines of quoted code.

    >>> unwrap_lines(["A long", "sentence.  ", "Next."]), unwrap_lines(["> Quoted", "> twice."])
    ('A long sentence.\\nNext.', 'Quoted twice.')
    """
    text = ""
    fence: str | None = None
    for raw in lines:
        line = _QUOTE.sub("", raw, count=1)
        before, fence = fence, update_fence(line, fence)
        if before is not None or fence is not None:
            text = text.removesuffix("\n") + f"\n{line.rstrip()}\n"
        else:
            text += _line_separator(text, line.lstrip()) + _strip_line_break(line)
    return text.strip()


def _strip_line_break(line: str) -> str:
    breaks = line.endswith(("  ", "\\"))
    return line.strip().removesuffix("\\").rstrip() + ("\n" if breaks else "")


def _line_separator(before: str, after: str) -> str:
    if not before or not after or before.endswith("\n"):
        return ""
    return "" if before[-1] >= _FIRST_UNSPACED_LETTER and after[0] >= _FIRST_UNSPACED_LETTER else " "


def _has_words(text: str) -> bool:
    return any(letter.isalnum() for letter in MDX_COMPONENT.sub("", HTML_TAG.sub("", text)))
