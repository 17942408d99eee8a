"""Remove Markdown markup: inline syntax, directives, admonitions, link definitions."""

from __future__ import annotations

import html
import re
from bisect import bisect_right
from collections.abc import Callable, Collection

from cofire.ingest.text_pieces import strip_list_marker, update_fence

_HTML_TAG_NAMES = """
a abbr address article aside audio b blockquote br button center cite code col colgroup dd del
details dfn div dl dt em embed figcaption figure font footer h1 h2 h3 h4 h5 h6 header hr html i
iframe img input ins kbd label li link main mark meta nav ol p picture pre q s samp script
section small source span strike strong style sub summary sup svg table tbody td tfoot th thead
tr tt u ul var video wbr
""".split()
HTML_TAG = re.compile(rf"</?(?:{'|'.join(_HTML_TAG_NAMES)})(?:\s[^<>]*)?/?>", re.IGNORECASE)
# The end of a block. The text after it on the same line belongs to another block.
_BLOCK_END = re.compile(
    r"</(?:caption|dd|div|dt|figcaption|h[1-6]|li|p|summary|td|th)\s*>(?=(?:<[^<>]*>)*\w)", re.IGNORECASE
)
MDX_COMPONENT = re.compile(
    r"</?[A-Z][\w.]*(?:\s[^<>]*)?/?>"
)  # of MDX, where it stands alone; elsewhere it may be a type

# A code span may contain backticks if more of them delimit it. A MyST role may precede it.
_CODE_SPAN = re.compile(
    r"(?:(?<!\w)\{(?P<role>[\w:+.-]+)\})?(?<!`)(?P<ticks>`+)(?!`)(?P<code>.+?)(?<!`)(?P=ticks)(?!`)", re.DOTALL
)
_PLACEHOLDER = re.compile("\0(\\d+)\0")
_LINE_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
_LINK_TEXT = r"\[((?:[^\[\]\\]|\\.|\[[^\[\]]*\])*)\]"
_LINK_TARGET = r"\(\s*(?:<[^<>\n]*>|[^()\s]*(?:\([^()]*\)[^()\s]*)*)(?:\s+(?:\"[^\"]*\"|'[^']*'|\([^()]*\)))?\s*\)"
_ATTRIBUTES = r"(?:\{[^{}\n]*\})?"
_IMAGE = re.compile(rf"!{_LINK_TEXT}{_LINK_TARGET}{_ATTRIBUTES}")
_LINK = re.compile(rf"{_LINK_TEXT}{_LINK_TARGET}{_ATTRIBUTES}")
_IMAGE_REFERENCE = re.compile(rf"!{_LINK_TEXT}(?:\[[^\[\]]*\])?{_ATTRIBUTES}")
_EMPTY_LINK = re.compile(rf"\[\s*\](?:{_LINK_TARGET}|\[[^\[\]]*\]){_ATTRIBUTES}")
_REFERENCE = re.compile(rf"(?P<image>!?){_LINK_TEXT}[ ]?\[(?P<label>[^\[\]]*)\]")
_SHORTCUT = re.compile(r"(?<![\w\]])!?\[(?P<label>[^\[\]^]+)\](?![\[(:])")
_WIKI_LINK = re.compile(r"(?P<embed>!?)\[\[(?P<page>[^\s\[\]|][^\[\]|\n]*)(?:\|(?P<text>[^\[\]\n]+))?\]\]")
_FOOTNOTE_REFERENCE = re.compile(r"\[\^[^\[\]\s]+\](?!:)")
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
_WIDE_GAP = re.compile(r"(?<=\S)[ \t]{2,}(?=\S)")
_BLANK_LINES = re.compile(r"\n(?:[ \t]*\n){2,}")

TEXT_ROLES = frozenset(
    """ref doc term numref any download abbr sup sub math eq index guilabel menuselection emphasis strong title-reference
    t title user dfn pep rfc cve""".split()
)
_LABEL_ROLES = ("ref", "numref", "any")
_ROLE_PREFIXES = {"pep": "PEP ", "rfc": "RFC ", "cve": "CVE-"}


def markdown_to_text(text: str, labels: Collection[str] = ()) -> str:
    """The text without Markdown. `labels` are those of its link definitions.

    >>> markdown_to_text(
    ...     "See [the *plan*](https://a.org/x_(y) 'T'), [notes][n] and `[code](x)`.<br/>{ref}`Tea <tea>`", {"n"}
    ... )
    'See the plan, notes and `[code](x)`. Tea'
    """
    spans: list[str] = []

    def protect(span: re.Match[str]) -> str:
        spans.append(format_role(span["role"], span["code"]) if span["role"] else span[0])
        return f"\0{len(spans) - 1}\0"

    text = _CODE_SPAN.sub(protect, text.replace("\0", ""))
    text = HTML_TAG.sub("", _BLOCK_END.sub(" ", _LINE_BREAK.sub(" ", text)))
    text = _replace_links(text, labels)
    text = _TEMPLATE.sub("", _ICON.sub("", _ANCHOR.sub("", _FOOTNOTE_REFERENCE.sub("", text))))
    for emphasis in _EMPHASIS:
        text = emphasis.sub(r"\2", text)
    text = _ENTITY.sub(lambda entity: html.unescape(entity[0]), _ESCAPE.sub(r"\1", text))
    return _PLACEHOLDER.sub(
        lambda place: _restore_span(place, spans), _BLANK_LINES.sub("\n\n", _WIDE_GAP.sub(" ", text))
    )


def _restore_span(place: re.Match[str], spans: list[str]) -> str:
    number = int(place[1])
    return spans[number] if number < len(spans) else ""  # an entity may form a placeholder


def is_only_images(text: str) -> bool:
    """Whether a text is only images, such as badges, with or without links.

    >>> is_only_images("[![Build](b.svg)](https://a.org) ![docs][d]"), is_only_images("![Tea](t.png) is hot.")
    (True, False)
    """
    if "![" not in text:
        return False
    rest = _IMAGE_REFERENCE.sub("", _IMAGE.sub("", text))
    return not any(letter.isalnum() for letter in HTML_TAG.sub("", _EMPTY_LINK.sub("", rest)))


def _replace_links(text: str, labels: Collection[str]) -> str:
    """Replace links and images by their text. Brackets without a definition may be an index: a[i][j]."""

    def reference(link: re.Match[str]) -> str:
        label = link["label"] or link[2]
        is_link = normalise_label(label) in labels or link[2].startswith("\0") or bool(link["image"])
        return link[2] if is_link else link[0]

    def shortcut(link: re.Match[str]) -> str:
        return link["label"] if normalise_label(link["label"]) in labels else link[0]

    def wiki_link(link: re.Match[str]) -> str:
        return "" if link["embed"] else link["text"] or link["page"]

    if "[" not in text:
        return text
    text = _LINK.sub(r"\1", _IMAGE.sub(r"\1", text))
    text = _REFERENCE.sub(reference, _REFERENCE.sub(reference, text))  # the text of a link may be an image
    return _SHORTCUT.sub(shortcut, _WIKI_LINK.sub(wiki_link, text))


def normalise_label(label: str) -> str:
    """The label of a link definition, without differences in case and spaces."""
    return " ".join(label.split()).casefold()


def format_role(role: str, text: str) -> str:
    """The text of a Sphinx or MyST role.

    The title before a target, or the last name after ~. Names of code stay code.

    >>> format_role("ref", "Tea <tea-label>"), format_role("py:class", "~tea.Pot"), format_role("pep", "8")
    ('Tea', '`Pot`', 'PEP 8')
    """
    name = role.rpartition(":")[2].lower()
    titled = _TITLED_TARGET.fullmatch(text)
    words = " ".join((titled["text"] if titled else text).split())
    if titled is None and name in _LABEL_ROLES and " " not in words:
        return re.sub(r"[-_]+", " ", words.lstrip("!~"))
    if name in TEXT_ROLES:
        return words if titled else _ROLE_PREFIXES.get(name, "") + words
    if words.startswith("~"):
        words = words.rpartition(".")[2]
    words = words.lstrip("!~.")
    return f"#{words}" if name in ("issue", "pr", "pull", "gh") and words.isdigit() else f"`{words}`"


def change_outside_code(text: str, change: Callable[[str], str]) -> str:
    """The text with `change` applied to everything outside fenced code.

    >>> change_outside_code("a\\n```\\nb\\n```\\nc", str.upper)
    'A\\n```\\nb\\n```\\nC'
    """
    done: list[str] = []
    prose: list[str] = []
    fence: str | None = None
    for line in text.split("\n"):
        after = update_fence(strip_list_marker(line) if fence is None else line, fence)
        if fence is None and after is None:
            prose.append(line)
        else:
            if prose:
                done.append(change("\n".join(prose)))
                prose = []
            done.append(line)
        fence = after
    return "\n".join([*done, change("\n".join(prose))] if prose else done)


_LINK_DEFINITION = re.compile(
    r"[ >]*\[(?P<label>[^\[\]^][^\[\]]*)\]:[ \t]*(?:<[^<>]*>|\S+)(?:[ \t]+(?:\"[^\"]*\"|'[^']*'|\([^()]*\)))?[ \t]*"
)
_SPLIT_LINK_DEFINITION = re.compile(r" {0,3}\[(?P<label>[^\[\]^][^\[\]]*)\]:[ \t]*")
_LINK_ADDRESS = re.compile(r"[ \t]+(?:<[^<>]*>|[^\s<>]*[/#.][^\s<>]*)[ \t]*")
_FOOTNOTE_DEFINITION = re.compile(r" {0,3}\[\^[^\[\]\s]+\]:[ \t]*")
_ABBREVIATION = re.compile(r" {0,3}\*\[(?P<short>[^\[\]]+)\]:[ \t]*(?P<long>.*)")
_ADMONITION = re.compile(
    r"(?P<indent>[ \t]*)(?:!!!|\?{3}\+?|={3}[!+]?)[ \t]+(?P<rest>(?:[\w-][\w -]*)?(?:\"(?P<title>.*)\")?)[ \t]*"
)
_ALERT = re.compile(r"(?P<quote>[ ]{0,3}>[ ]?)\[!\w+\][+-]?[ \t]*(?P<title>.*)")
_CONTAINER = re.compile(r"(?P<indent>[ \t]*)(?P<colons>:{3,})[ \t]*(?P<rest>.*?)[ \t]*")
_DIRECTIVE = re.compile(
    r"(?P<indent>[ \t]*)(?P<marks>`{3,}|~{3,}|:{3,})[ \t]*\{(?P<name>[\w:.+-]+)\}[ \t]*(?P<argument>.*?)[ \t]*"
)
_CLOSING_MARKS = re.compile(r"[ \t]*(?:`{3,}|~{3,}|:{3,})[ \t]*")
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
_MODULE_NAME = re.compile(r"[\w-]+(?:\.[\w-]+)+")  # a module whose documentation mkdocstrings fills in

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


def prepare_lines(text: str) -> tuple[list[str], frozenset[str]]:
    """The lines of a text without markup-only lines, and the labels of its link definitions."""
    lines = text.split("\n")
    lines = _remove_directives(lines)
    lines = _remove_admonitions(_remove_definition_marks(lines))
    labels: set[str] = set()
    below = [False]

    def change(line: str) -> str:
        if below[0]:
            below[0] = False
            if _LINK_ADDRESS.fullmatch(line):
                return ""
        if definition := _LINK_DEFINITION.fullmatch(line) or _SPLIT_LINK_DEFINITION.fullmatch(line):
            labels.add(normalise_label(definition["label"]))
            below[0] = definition.re is _SPLIT_LINK_DEFINITION
            return ""
        if abbreviation := _ABBREVIATION.fullmatch(line):
            return f"{abbreviation['short']}: {abbreviation['long']}"
        if alert := _ALERT.fullmatch(line):
            return alert["quote"] + format_title(alert["title"])
        if heading := _HTML_HEADING.fullmatch(line):
            return f"{'#' * int(heading['level'])} {heading['text']}"
        return "" if _MARK_ONLY.fullmatch(line) else _FOOTNOTE_DEFINITION.sub("", line, count=1)

    return _change_lines_outside_code(lines, change), frozenset(labels)


def format_title(title: str) -> str:
    """A title that introduces the text below it.

    >>> format_title("Mind the gap"), format_title("Really?"), format_title("")
    ('Mind the gap:', 'Really?', '')
    """
    words = title.strip()
    last = words.rstrip("*_")[-1:]
    return f"{words}:" if last.isalnum() or (last and last in ")`\"'") else words


def _change_lines_outside_code(lines: list[str], change: Callable[[str], str]) -> list[str]:
    fence: str | None = None
    changed: list[str] = []
    for line in lines:
        after = update_fence(strip_list_marker(line) if fence is None else line, fence)
        changed.append(line if fence is not None or after is not None else change(line))
        fence = after
    return changed


def _remove_directives(lines: list[str]) -> list[str]:
    """Unwrap directives of MyST and containers. Notes keep their content, code becomes a fence."""
    lines = list(lines)
    closers = [place for place, line in enumerate(lines) if _CLOSING_MARKS.fullmatch(line)]
    at = 0
    fence: str | None = None
    while at < len(lines):
        directive = _DIRECTIVE.fullmatch(lines[at]) if fence is None else None
        container = _CONTAINER.fullmatch(lines[at]) if fence is None and directive is None else None
        if directive is not None and (end := _find_closing_line(lines, closers, at, directive["marks"])) is not None:
            _unwrap_directive(lines, at, end, directive)
        elif container is not None:
            _unwrap_container(lines, closers, at, container)
        else:
            fence = update_fence(strip_list_marker(lines[at]) if fence is None else lines[at], fence)
            at += 1
            continue
        fence = update_fence(lines[at], None)
        at += 1
    return lines


def _find_closing_line(lines: list[str], closers: list[int], at: int, marks: str) -> int | None:
    """The line that closes a directive: at least as many of the same marks, and nothing else."""
    for place in closers[bisect_right(closers, at) :]:
        line = lines[place].strip()
        if len(line) >= len(marks) and not line.strip(marks[0]):
            return place
    return None


def _unwrap_directive(lines: list[str], at: int, end: int, directive: re.Match[str]) -> None:
    name = directive["name"].lower()
    indent, argument = directive["indent"], directive["argument"]
    is_code = name in CODE_DIRECTIVES
    if name in DROPPED_DIRECTIVES or name.startswith("auto"):
        lines[at : end + 1] = [""] * (end + 1 - at)
        return
    for place in _find_option_lines(lines, at + 1, end):
        lines[place] = ""
    if is_code:
        marks = directive["marks"] if directive["marks"][0] in "`~" else "```"
        lines[at], lines[end] = f"{indent}{marks}{argument}", f"{indent}{marks}"
        return
    lines[at] = indent + format_title(argument) if argument else ""
    lines[end] = ""


def _find_option_lines(lines: list[str], at: int, end: int) -> range:
    """The lines of the options of a directive: fields, or YAML between rules."""
    stop = at
    if at < end and lines[at].strip() == "---":
        closing = next((place for place in range(at + 1, end) if lines[place].strip() == "---"), None)
        return range(at, at if closing is None else closing + 1)
    while stop < end and _OPTION.fullmatch(lines[stop]):
        stop += 1
    return range(at, stop)


def _unwrap_container(lines: list[str], closers: list[int], at: int, container: re.Match[str]) -> None:
    """Remove a container and keep its title.

    Without a closing line it names a module, with indented options below it.
    """
    indent, rest = container["indent"], container["rest"]
    end = _find_closing_line(lines, closers, at, container["colons"]) if rest else None
    if rest and end is None and _MODULE_NAME.fullmatch(rest):
        place = at + 1
        while place < len(lines) and lines[place].strip() and lines[place].startswith(indent + "  "):
            lines[place] = ""
            place += 1
    title = re.sub(r"^[\w-]+[ \t]*|\{[^{}]*\}|\[|\]", "", rest) if end is not None else ""
    lines[at] = indent + format_title(title) if title.strip() else ""


def _remove_definition_marks(lines: list[str]) -> list[str]:
    """Terms and definitions as paragraphs: `term`, `:   definition` becomes `term:`, `definition`."""
    lines = list(lines)
    term: int | None = None  # the last line of text without indentation
    fence: str | None = None
    for at, line in enumerate(lines):
        after = update_fence(strip_list_marker(line) if fence is None else line, fence)
        mark = _DEFINITION_MARK.match(line) if fence is None and term is not None else None
        if mark is not None and term is not None:
            lines[term] = format_title(lines[term])
            _dedent_block(lines, at + 1, "")
            lines[at] = line[mark.end() :].lstrip()
        elif fence is None and line.strip():
            term = at if after is None and not line.startswith((" ", "\t", "#", ">", "|")) else None
        fence = after
    return lines


def _remove_admonitions(lines: list[str]) -> list[str]:
    """Unwrap admonitions and tabs: the title stays, the content moves out by its indentation."""
    done = list(lines)
    fence: str | None = None
    for at in range(len(done)):
        after = update_fence(strip_list_marker(done[at]) if fence is None else done[at], fence)
        if fence is None and after is None and (mark := _ADMONITION.fullmatch(done[at])) and mark["rest"]:
            _dedent_block(done, at + 1, mark["indent"])
            title = format_title(mark["title"] or "")
            done[at] = mark["indent"] + title if title else ""
        fence = after
    return done


def _dedent_block(lines: list[str], at: int, indent: str) -> None:
    inner = indent + "    "
    for place in range(at, len(lines)):
        line = lines[place].expandtabs(4) if lines[place].startswith("\t") else lines[place]
        if line.strip() and not line.startswith(inner):
            return
        lines[place] = indent + line[len(inner) :] if line.strip() else ""
