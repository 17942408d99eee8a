"""Markdown: its lines read as blocks, as far as facts need it, in plain text without marks. Code stays as it is. No I/O."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import zip_longest

from cofire.ingesting.blocks import Block, Entry
from cofire.ingesting.cutting import behind_marker, fence_after
from cofire.ingesting.markdown_inline import COMPONENT, TAG, only_images, outside_code, plain
from cofire.ingesting.markdown_lines import prepared, titled

Lines = Sequence[str]
Taken = tuple[Block | None, int]  # a block, or nothing worth keeping, and the line after it

_HEADING = re.compile(r" {0,3}(?P<marks>#{1,6})(?:[ \t]+(?P<title>.*))?")
_UNDERLINE = re.compile(r" {0,3}(?P<mark>=+|-+)[ \t]*")
_RULE = re.compile(r" {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})")
_ITEM = re.compile(r" {0,3}(?:[-*+]|(?P<number>\d{1,9})[.)])(?:[ \t].*)?")
_TABLE_LINE = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*")
_PREFORMATTED = re.compile(r" {0,3}<pre(?:\s[^<>]*)?>", re.IGNORECASE)
_INDENTED = re.compile(r" {4}|\t")
_WITHIN_ITEM = re.compile(r" {2}|\t")
_QUOTE = re.compile(r"^ {0,3}> ?")
_CODE = (
    r"^(?:[ \t>]|[-*+][ \t]|\d{1,9}[.)][ \t])*(?P<fence>`{3,}(?=[^`\n]*$)|~{3,})[^\n]*\n.*?(?:^[ \t>]*(?P=fence)[`~]*[ \t]*$|\Z)"
    r"|`[^`\n]+`"
)
_HIDDEN = {  # what ends a part that is never shown, and code or such a part
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
_RULE_LINE = re.compile(r"^[ \t]+(?:-{3,}|\*{3,}|_{3,})[ \t]*$", re.MULTILINE)  # inside an item of a list
_HEADING_MARK = re.compile(r"[ \t]+#+[ \t]*$")
_CODE_SPAN = re.compile(r"`+([^`]+)`+")
_CELL_PART = re.compile(r"\\.|(?<!`)(`+)(?!`).+?(?<!`)\1(?!`)|.", re.DOTALL)
_UNSPACED = "\u2e80"  # from here on scripts put no spaces between words


def blocks(text: str, *, first_line: int) -> Iterator[Block]:
    """The blocks of a text whose first line has this number."""
    lines, labels = prepared(without_components(without_comments(text)))
    at = 0
    while at < len(lines):
        block, after = _block(lines, at, first_line + at)
        readable = _readable(block, labels) if block is not None else None
        if readable is not None:
            yield readable
        at = after


def _readable(block: Block, labels: frozenset[str]) -> Block | None:
    """A block in plain text; none where only marks are left."""

    def readable(text: str) -> str:
        return outside_code(text, lambda prose: plain(_RULE_LINE.sub("", prose), labels)).strip()

    if block.kind == "code":
        return block
    if block.kind == "heading":
        words = _plain_title(block.text, labels)
        return replace(block, text=words) if words else None
    if only_images(block.text) or _is_contents(block):
        return None
    entries = [Entry(entry.line, readable(entry.text)) for entry in block.entries if not only_images(entry.text)]
    entries = [entry for entry in entries if _has_words(entry.text)]
    text = readable(block.text)
    return replace(block, text=text, entries=tuple(entries)) if entries or _has_words(text) else None


def _is_contents(block: Block) -> bool:
    """Whether a list holds nothing but links to headings of its own page."""
    lines = [line for entry in block.entries for line in entry.text.split("\n") if line.strip()]
    return block.kind == "list" and not block.text and all(_CONTENTS_LINE.fullmatch(line) for line in lines)


def without_comments(text: str) -> str:
    """The text with HTML comments, scripts and styles outside of code left out, its lines numbered as before.

    >>> without_comments("a <!-- b\\n c --> d\\n```\\n<!-- e -->\\n```")
    'a \\n d\\n```\\n<!-- e -->\\n```'
    """
    for end, code_or_hidden in _HIDDEN.items():
        last = text.rfind(end)
        if last >= 0:
            stop = text.find("\n", last) + 1 or len(text)
            text = code_or_hidden.sub(_uncommented, text[:stop]) + text[stop:]
    return text


def _uncommented(found: re.Match[str]) -> str:
    return "\n" * found[0].count("\n") if found[0].startswith("<") else found[0]


def without_components(text: str) -> str:
    """The text with MDX's imports, exports, comments and component tags outside of code left out, its lines numbered as before.

    A name in angle brackets may also be a type, as in List<String>: it is a component if it is closed somewhere.

    >>> without_components("import A from 'a';\\n<Tab label='Tea'>Hot.</Tab> List<Cup>, `<Tab>`")
    '\\nTea: Hot. List<Cup>, `<Tab>`'
    """
    names = sorted({name for pair in _CLOSED_COMPONENT.findall(text) for name in pair if name})
    tags = rf"|</?(?:{'|'.join(map(re.escape, names))})(?:\s(?:[^<>]|=>)*)?/?>" if names else ""
    return re.sub(rf"{_CODE}|(?P<mdx>{_MDX}{tags})", _without_component, text, flags=re.DOTALL | re.MULTILINE)


def _without_component(match: re.Match[str]) -> str:
    if match["mdx"] is None:
        return match[0]
    label = _LABEL.search(match[0]) if match[0].startswith("<") else None
    return (f"{titled(label['text'])} " if label else "") + "\n" * match[0].count("\n")


def _block(lines: Lines, at: int, line: int) -> Taken:
    if not lines[at].strip():
        return None, at + 1
    if fence_after(lines[at], None) is not None:
        return _fenced(lines, at, line)
    if _PREFORMATTED.match(lines[at]):
        return _preformatted(lines, at, line)
    if _INDENTED.match(lines[at]):
        return _indented(lines, at, line)
    if heading := _HEADING.fullmatch(lines[at]):
        return _heading(heading["title"] or "", len(heading["marks"]), line), at + 1
    if _RULE.fullmatch(lines[at]):
        return None, at + 1
    if _opens_table(lines, at):
        return _table(lines, at, line)
    if _ITEM.fullmatch(lines[at]):
        return _list(lines, at, line)
    return _paragraph(lines, at, line)


def _heading(title: str, level: int, line: int) -> Block:
    return Block("heading", line, " ".join(title.split()), level=level)


def _plain_title(title: str, labels: frozenset[str]) -> str:
    """A heading by its plain words.

    >>> _plain_title("**The** `_door_[x]()` [of](#of) cofire ##", frozenset())
    'The _door_[x]() of cofire'
    """
    words = plain(_HEADING_MARK.sub("", title), labels)
    return " ".join(_CODE_SPAN.sub(r"\1", words).split())


def _fenced(lines: Lines, at: int, line: int) -> Taken:
    end = _fence_end(lines, at)
    return Block("code", line, "\n".join(lines[at:end])), end


def _fence_end(lines: Lines, at: int) -> int:
    """The line after the fence that closes what opens here; the end of the text where none does, the next line where none opens."""
    fence = fence_after(behind_marker(lines[at]), None)
    end = at + 1
    while end < len(lines) and fence is not None:
        fence = fence_after(lines[end], fence)
        end += 1
    return end


def _preformatted(lines: Lines, at: int, line: int) -> Taken:
    """What stands between <pre> and </pre>; to the end of the text where it is not closed."""
    end = next((place for place in range(at, len(lines)) if "</pre>" in lines[place].lower()), len(lines) - 1) + 1
    text = "\n".join(lines[at:end]).rstrip()
    return (Block("code", line, text) if _has_words(text) else None), end


def _indented(lines: Lines, at: int, line: int) -> Taken:
    end = at
    while end < len(lines) and (_INDENTED.match(lines[end]) or not lines[end].strip()):
        end += 1
    return Block("code", line, "\n".join(lines[at:end]).rstrip()), end


def _opens_table(lines: Lines, at: int) -> bool:
    return (
        at + 1 < len(lines)
        and "|" in lines[at]
        and "|" in lines[at + 1]
        and _TABLE_LINE.fullmatch(lines[at + 1]) is not None
    )


def _table(lines: Lines, at: int, line: int) -> Taken:
    end = at + 2
    while end < len(lines) and "|" in lines[end]:
        end += 1
    header = _cells(lines[at])
    rows = tuple(Entry(line + place - at, _row(header, _cells(lines[place]))) for place in range(at + 2, end))
    return Block("table", line, "" if rows else "; ".join(cell for cell in header if cell), entries=rows), end


def _cells(line: str) -> list[str]:
    r"""The cells of a row. A bar in code, or behind a backslash, parts none.

    >>> _cells(r"| a | `b|c` | d\|e ||")
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


def _row(header: Sequence[str], cells: Sequence[str]) -> str:
    """A row in words, each cell behind the name of its column.

    >>> _row(["drink", "how"], ["tea", "hot"])
    'drink: tea; how: hot'
    """
    pairs = [(name, cell) for name, cell in zip_longest(header, cells, fillvalue="") if cell]
    return "; ".join(f"{name}: {cell}" if name else cell for name, cell in pairs)


def _list(lines: Lines, at: int, line: int) -> Taken:
    starts, end = _items(lines, at)
    bounds = zip(starts, [*starts[1:], end], strict=True)
    entries = tuple(Entry(line + start - at, "\n".join(lines[start:stop]).rstrip()) for start, stop in bounds)
    return Block("list", line, "", entries=entries), end


def _items(lines: Lines, at: int) -> tuple[list[int], int]:
    """Where the items of a list start, and the line after it. What is indented belongs to the item above, as does a line that goes on."""
    starts = [at]
    end = _fence_end(lines, at)
    while (here := _next_words(lines, end)) < len(lines):
        if _RULE.fullmatch(lines[here]):
            break
        if _ITEM.fullmatch(lines[here]) and not _is_nested(lines[here], lines[starts[-1]]):
            starts.append(here)
        elif not _WITHIN_ITEM.match(lines[here]) and (here > end or _opens_block(lines, here)):
            break
        end = _fence_end(lines, here)
    return starts, end


def _next_words(lines: Lines, at: int) -> int:
    """The first line from here on that is not blank."""
    while at < len(lines) and not lines[at].strip():
        at += 1
    return at


def _is_nested(line: str, above: str) -> bool:
    """Whether an item is indented to stand under the words of the one above."""
    return _indent(line) - _indent(above) >= 2


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _opens_block(lines: Lines, at: int) -> bool:
    """Whether a line ends the paragraph before it without a blank line. Only a list from 1 on may: other numbers end sentences."""
    item = _ITEM.fullmatch(lines[at])
    return (
        not lines[at].strip()
        or fence_after(lines[at], None) is not None
        or _PREFORMATTED.match(lines[at]) is not None
        or _HEADING.fullmatch(lines[at]) is not None
        or _RULE.fullmatch(lines[at]) is not None
        or (item is not None and item["number"] in (None, "1"))
        or _opens_table(lines, at)
    )


def _paragraph(lines: Lines, at: int, line: int) -> Taken:
    end = at + 1
    while end < len(lines):
        underline = _UNDERLINE.fullmatch(lines[end])
        if underline is not None and not _QUOTE.match(lines[at]):
            return _heading(" ".join(lines[at:end]), 1 if underline["mark"][0] == "=" else 2, line), end + 1
        if _opens_block(lines, end):
            break
        end += 1
    text = unwrapped(lines[at:end])
    return (Block("paragraph", line, text) if _has_words(text) else None), end


def unwrapped(lines: Lines) -> str:
    """The lines of a paragraph as one, as Markdown means them. A line that ends in two spaces or a backslash stays one, as do those
    of quoted code.

    >>> unwrapped(["A long", "sentence.  ", "Next."]), unwrapped(["> Quoted", "> twice."])
    ('A long sentence.\\nNext.', 'Quoted twice.')
    """
    text = ""
    fence: str | None = None
    for raw in lines:
        line = _QUOTE.sub("", raw, count=1)
        before, fence = fence, fence_after(line, fence)
        if before is not None or fence is not None:
            text = text.removesuffix("\n") + f"\n{line.rstrip()}\n"
        else:
            text += _glue(text, line.lstrip()) + _unbroken(line)
    return text.strip()


def _unbroken(line: str) -> str:
    breaks = line.endswith(("  ", "\\"))
    return line.strip().removesuffix("\\").rstrip() + ("\n" if breaks else "")


def _glue(before: str, after: str) -> str:
    if not before or not after or before.endswith("\n"):
        return ""
    return "" if before[-1] >= _UNSPACED and after[0] >= _UNSPACED else " "


def _has_words(text: str) -> bool:
    return any(letter.isalnum() for letter in COMPONENT.sub("", TAG.sub("", text)))
