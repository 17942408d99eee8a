"""Inline Markdown as plain text: links without their targets, no HTML, anchors, roles or emphasis marks. Code spans stay. No I/O."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Collection

from cofire.ingesting.cutting import behind_marker, fence_after

_TAGS = """a abbr address article aside audio b blockquote br button center cite code col colgroup dd del details dfn div dl dt em embed
    figcaption figure font footer h1 h2 h3 h4 h5 h6 header hr html i iframe img input ins kbd label li link main mark meta nav ol p
    picture pre q s samp script section small source span strike strong style sub summary sup svg table tbody td tfoot th thead tr tt
    u ul var video wbr""".split()
TAG = re.compile(rf"</?(?:{'|'.join(_TAGS)})(?:\s[^<>]*)?/?>", re.IGNORECASE)
# The end of a block: what follows on the same line is another block, not the rest of its last word.
_BLOCK_END = re.compile(
    r"</(?:caption|dd|div|dt|figcaption|h[1-6]|li|p|summary|td|th)\s*>(?=(?:<[^<>]*>)*\w)", re.IGNORECASE
)
COMPONENT = re.compile(r"</?[A-Z][\w.]*(?:\s[^<>]*)?/?>")  # of MDX, where it stands alone; elsewhere it may be a type

# A code span may hold backticks if it is opened and closed by more of them. A role of MyST stands before one.
_CODE_SPAN = re.compile(
    r"(?:(?<!\w)\{(?P<role>[\w:+.-]+)\})?(?<!`)(?P<ticks>`+)(?!`)(?P<code>.+?)(?<!`)(?P=ticks)(?!`)", re.DOTALL
)
_PLACEHOLDER = re.compile("\0(\\d+)\0")
_LINE_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
_TEXT = r"\[((?:[^\[\]\\]|\\.|\[[^\[\]]*\])*)\]"
_TARGET = r"\(\s*(?:<[^<>\n]*>|[^()\s]*(?:\([^()]*\)[^()\s]*)*)(?:\s+(?:\"[^\"]*\"|'[^']*'|\([^()]*\)))?\s*\)"
_ATTRIBUTES = r"(?:\{[^{}\n]*\})?"
_IMAGE = re.compile(rf"!{_TEXT}{_TARGET}{_ATTRIBUTES}")
_LINK = re.compile(rf"{_TEXT}{_TARGET}{_ATTRIBUTES}")
_IMAGE_REFERENCE = re.compile(rf"!{_TEXT}(?:\[[^\[\]]*\])?{_ATTRIBUTES}")
_EMPTY_LINK = re.compile(rf"\[\s*\](?:{_TARGET}|\[[^\[\]]*\]){_ATTRIBUTES}")
_REFERENCE = re.compile(rf"(?P<image>!?){_TEXT}[ ]?\[(?P<label>[^\[\]]*)\]")
_SHORTCUT = re.compile(r"(?<![\w\]])!?\[(?P<label>[^\[\]^]+)\](?![\[(:])")
_WIKI_LINK = re.compile(r"(?P<embed>!?)\[\[(?P<page>[^\s\[\]|][^\[\]|\n]*)(?:\|(?P<text>[^\[\]\n]+))?\]\]")
_FOOTNOTE = re.compile(r"\[\^[^\[\]\s]+\](?!:)")
_ANCHOR = re.compile(r"[ \t]*\{:?[ \t]*[#.][\w-][^{}\n]*\}|[ \t]*\{:[^{}\n]*\}")
_ICON = re.compile(r":(?:material|octicons|fontawesome|simple)-[\w-]+:(?:\{[^{}\n]*\})?[ \t]*")
_TEMPLATE = re.compile(r"\{%.*?%\}")
_EMPHASIS = (
    re.compile(r"(?<!\*)(\*{1,3})(?=[^\s*])([^*\n]*[^\s*])\1(?!\*)"),
    re.compile(
        r"(?<![\w_])(__)(?![a-z0-9_]+__(?!\w))(?=[^\s_])((?:(?!__)[^\n])*[^\s_])__(?![\w_])"
    ),  # __init__ is a name
    re.compile(r"(?<![\w_])(_)(?=[^\W_])([^_\n]*[^\W_][.!?]?)_(?![\w_])"),
    re.compile(
        r"(?<![\w=^+])(==|\^\^|\+\+)(?=[^\s=^+])((?:(?!\1)[^\n])*[^\s=^+])\1(?![\w=^+])"
    ),  # marked, inserted, keys
)
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z]\w{1,31});")
_ESCAPE = re.compile(r"\\([!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~])")
_TITLED_TARGET = re.compile(r"(?P<text>.+?)\s*<[^<>]*>", re.DOTALL)
_GAP = re.compile(r"(?<=\S)[ \t]{2,}(?=\S)")
_BLANK_LINES = re.compile(r"\n(?:[ \t]*\n){2,}")

TEXT_ROLES = frozenset(
    """ref doc term numref any download abbr sup sub math eq index guilabel menuselection emphasis strong title-reference
    t title user dfn pep rfc cve""".split()
)
_LABEL_ROLES = ("ref", "numref", "any")
_PREFIXES = {"pep": "PEP ", "rfc": "RFC ", "cve": "CVE-"}


def plain(text: str, labels: Collection[str] = ()) -> str:
    """A text as it reads, without the marks of Markdown. `labels` are those of its link definitions.

    >>> plain("See [the *plan*](https://a.org/x_(y) 'T'), [notes][n] and `[code](x)`.<br/>{ref}`Tea <tea>`", {"n"})
    'See the plan, notes and `[code](x)`. Tea'
    """
    spans: list[str] = []

    def protect(span: re.Match[str]) -> str:
        spans.append(role_text(span["role"], span["code"]) if span["role"] else span[0])
        return f"\0{len(spans) - 1}\0"

    text = _CODE_SPAN.sub(protect, text.replace("\0", ""))
    text = TAG.sub("", _BLOCK_END.sub(" ", _LINE_BREAK.sub(" ", text)))
    text = _links(text, labels)
    text = _TEMPLATE.sub("", _ICON.sub("", _ANCHOR.sub("", _FOOTNOTE.sub("", text))))
    for emphasis in _EMPHASIS:
        text = emphasis.sub(r"\2", text)
    text = _ENTITY.sub(lambda entity: html.unescape(entity[0]), _ESCAPE.sub(r"\1", text))
    return _PLACEHOLDER.sub(lambda place: _restored(place, spans), _BLANK_LINES.sub("\n\n", _GAP.sub(" ", text)))


def _restored(place: re.Match[str], spans: list[str]) -> str:
    number = int(place[1])
    return spans[number] if number < len(spans) else ""  # an entity may spell a placeholder


def only_images(text: str) -> bool:
    """Whether a text is images alone, such as badges, with or without links around them.

    >>> only_images("[![Build](b.svg)](https://a.org) ![docs][d]"), only_images("![Tea](t.png) is hot.")
    (True, False)
    """
    if "![" not in text:
        return False
    rest = _IMAGE_REFERENCE.sub("", _IMAGE.sub("", text))
    return not any(letter.isalnum() for letter in TAG.sub("", _EMPTY_LINK.sub("", rest)))


def _links(text: str, labels: Collection[str]) -> str:
    """Links and images by their texts. A pair of brackets without a definition may be an index, as in a[i][j]."""

    def reference(link: re.Match[str]) -> str:
        label = link["label"] or link[2]
        is_link = normal_label(label) in labels or link[2].startswith("\0") or bool(link["image"])
        return link[2] if is_link else link[0]

    def shortcut(link: re.Match[str]) -> str:
        return link["label"] if normal_label(link["label"]) in labels else link[0]

    def wiki_link(link: re.Match[str]) -> str:
        return "" if link["embed"] else link["text"] or link["page"]

    if "[" not in text:
        return text
    text = _LINK.sub(r"\1", _IMAGE.sub(r"\1", text))
    text = _REFERENCE.sub(reference, _REFERENCE.sub(reference, text))  # an image may be the text of a link
    return _SHORTCUT.sub(shortcut, _WIKI_LINK.sub(wiki_link, text))


def normal_label(label: str) -> str:
    """The label of a link definition without regard to case and spaces."""
    return " ".join(label.split()).casefold()


def role_text(role: str, text: str) -> str:
    """What a role of Sphinx or MyST shows: the title before a target, the last name behind ~; names of code stay code.

    >>> role_text("ref", "Tea <tea-label>"), role_text("py:class", "~tea.Pot"), role_text("pep", "8")
    ('Tea', '`Pot`', 'PEP 8')
    """
    name = role.rpartition(":")[2].lower()
    titled = _TITLED_TARGET.fullmatch(text)
    words = " ".join((titled["text"] if titled else text).split())
    if titled is None and name in _LABEL_ROLES and " " not in words:
        return re.sub(r"[-_]+", " ", words.lstrip("!~"))
    if name in TEXT_ROLES:
        return words if titled else _PREFIXES.get(name, "") + words
    if words.startswith("~"):
        words = words.rpartition(".")[2]
    words = words.lstrip("!~.")
    return f"#{words}" if name in ("issue", "pr", "pull", "gh") and words.isdigit() else f"`{words}`"


def outside_code(text: str, change: Callable[[str], str]) -> str:
    """The text with what stands outside of fenced code changed.

    >>> outside_code("a\\n```\\nb\\n```\\nc", str.upper)
    'A\\n```\\nb\\n```\\nC'
    """
    done: list[str] = []
    prose: list[str] = []
    fence: str | None = None
    for line in text.split("\n"):
        after = fence_after(behind_marker(line) if fence is None else line, fence)
        if fence is None and after is None:
            prose.append(line)
        else:
            if prose:
                done.append(change("\n".join(prose)))
                prose = []
            done.append(line)
        fence = after
    return "\n".join([*done, change("\n".join(prose))] if prose else done)
