"""Markdown: its lines read as blocks, as far as facts need it. Inline marks and links stay as they are. No I/O."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from cofire.ingesting.blocks import Block, Entry
from cofire.ingesting.cutting import behind_marker, fence_after

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
_CODE_OR_COMMENT = re.compile(
    r"^(?:[ \t>]|[-*+][ \t]|\d{1,9}[.)][ \t])*(?P<fence>`{3,}(?=[^`\n]*$)|~{3,})[^\n]*\n.*?(?:^[ \t>]*(?P=fence)[`~]*[ \t]*$|\Z)"
    r"|`[^`\n]+`|<!--.*?-->",
    re.DOTALL | re.MULTILINE,
)
_HTML = """a abbr address article aside audio b blockquote br button center cite code col colgroup dd del details dfn div dl dt em embed
    figcaption figure font footer h1 h2 h3 h4 h5 h6 header hr html i iframe img input ins kbd label li link main mark meta nav ol p
    picture pre q s samp script section small source span strike strong style sub summary sup svg table tbody td tfoot th thead tr tt
    u ul var video wbr""".split()
_TAG = re.compile(rf"</?(?:{'|'.join(_HTML)})(?:\s[^<>]*)?/?>", re.IGNORECASE)
_COMPONENT = re.compile(r"</?[A-Z][\w.]*(?:\s[^<>]*)?/?>")  # of MDX, where it stands alone; elsewhere it may be a type
_CODE_SPAN = re.compile(r"(`+[^`]+`+)")
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()]+\)")
_INLINE_MARK = re.compile(r"\*\*|__|(?<!\w)[*_]|[*_](?!\w)|[ \t]*\{#[^{}]*\}$|[ \t]+#+[ \t]*$")
_UNSPACED = "\u2e80"  # from here on scripts put no spaces between words


def blocks(text: str, *, first_line: int) -> Iterator[Block]:
    """The blocks of a text whose first line has this number."""
    lines = without_comments(text).split("\n")
    at = 0
    while at < len(lines):
        block, after = _block(lines, at, first_line + at)
        if block is not None:
            yield block
        at = after


def without_comments(text: str) -> str:
    """The text with HTML comments outside of code left out, its lines numbered as before.

    >>> without_comments("a <!-- b\\n c --> d\\n```\\n<!-- e -->\\n```")
    'a \\n d\\n```\\n<!-- e -->\\n```'
    """
    last = text.rfind("-->")
    if last < 0:
        return text
    end = text.find("\n", last) + 1 or len(text)
    return _CODE_OR_COMMENT.sub(_uncommented, text[:end]) + text[end:]


def _uncommented(found: re.Match[str]) -> str:
    return "\n" * found[0].count("\n") if found[0].startswith("<!--") else found[0]


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


def _heading(title: str, level: int, line: int) -> Block | None:
    """A heading by its plain words; one without words is none.

    >>> _heading("**The** `_door_[x]()` [of](#of) cofire ##", 2, 1).text
    'The _door_[x]() of cofire'
    """
    plain = "".join(
        part.strip("`") if part.startswith("`") else _INLINE_MARK.sub("", _LINK.sub(r"\1", _TAG.sub("", part)))
        for part in _CODE_SPAN.split(" ".join(title.split()))
    )
    words = " ".join(plain.split())
    return Block("heading", line, words, level=level) if words else None


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
    rows = tuple(Entry(line + place - at, lines[place].strip()) for place in range(at + 2, end))
    return Block("table", line, f"{lines[at].strip()}\n{lines[at + 1].strip()}", entries=rows), end


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
    return any(letter.isalnum() for letter in _COMPONENT.sub("", _TAG.sub("", text)))
