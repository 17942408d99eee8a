"""A short page per verb, written for agents."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from types import MappingProxyType

from cofire.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class VerbGuide:
    """What a verb does, when to use it, what it costs and what to do next."""

    verb: str
    what: str
    when: str
    cost: str
    next: str

    def text(self) -> str:
        return f"{self.verb}\n  what: {self.what}\n  when: {self.when}\n  cost: {self.cost}\n  next: {self.next}"


_GUIDES = (
    VerbGuide(
        "remember",
        what=(
            "Stores facts and links them by names, session order and similarity. A fact that is "
            "already stored is recognised."
        ),
        when=(
            "When something is worth knowing later. One fact per sentence or short paragraph, with "
            "subject, tags, session and time if known. supersedes=id replaces an older fact."
        ),
        cost="A few milliseconds and one embedding per fact. Many facts in one call are faster.",
        next="recall to find it; dream to link it more deeply.",
    ),
    VerbGuide(
        "recall",
        what=(
            "Finds the facts that answer a question, with explanations, or abstains with a reason "
            "when nothing relevant is stored."
        ),
        when=("Before answering from memory. Narrow it by scope, session, tags, speaker, time or metadata (where)."),
        cost="A few milliseconds and one embedding. No language model.",
        next=(
            "found.text(budget) for a prompt, found.xray() for the explanation, feedback on useful "
            "facts, why for a missing fact."
        ),
    ),
    VerbGuide(
        "feedback",
        what=(
            "Records which facts of a recall helped and which hurt. Links that led to helpful "
            "facts, and links between them, become stronger."
        ),
        when=(
            "After an answer that used recalled facts. Pass the result of recall or its id; name "
            "only facts that it returned."
        ),
        cost="A millisecond.",
        next="recall related questions; use shows how often a fact helped or hurt.",
    ),
    VerbGuide(
        "why",
        what=(
            "Explains why a question returns a fact, or the first stage that removes it and which changes return it."
        ),
        when=(
            "When an expected fact is missing or an unexpected one is returned. Pass the same arguments as to recall."
        ),
        cost=("One recall; for a missing fact up to a few dozen more, because every listed change is tested."),
        next="recall with the first remedy.",
    ),
    VerbGuide(
        "ingest",
        what=("Stores conversations and documents, split into facts: chat messages, exports, Markdown and text files."),
        when="To load existing material. A second run stores nothing twice.",
        cost="One embedding per fact. A progress bar shows the progress.",
        next="dream, after everything is loaded.",
    ),
    VerbGuide(
        "dream",
        what=(
            "Links the facts that wait in the inbox: compares each with its neighbour candidates, "
            "links causes and later-named subjects, then ranks the graph and finds communities. "
            "Facts with a common tag are linked at a lower similarity."
        ),
        when=("After storing many facts, or when stats reports waiting facts. It can be interrupted and run again."),
        cost="Seconds for thousands of facts; no embedding, no language model.",
        next="neighbours and edges, to see the new links.",
    ),
    VerbGuide(
        "curate",
        what=(
            "Decays unused edges, archives facts by retention and budget, ranks the graph and finds "
            "communities, proposes contradicting facts for review, and checks the store. Archived "
            "facts are excluded from recall, never deleted."
        ),
        when=(
            "From time to time, or on a schedule with curate.every_hours. Try dry_run first. It can "
            "be interrupted and run again."
        ),
        cost="Seconds for a hundred thousand facts; no embedding, no language model.",
        next="review for proposed pairs, why_archived for a fact that recall no longer returns.",
    ),
    VerbGuide(
        "supersede",
        what=(
            "Marks an older fact as replaced by a newer one. Recall returns the older fact only with an earlier as_of."
        ),
        when=(
            "When something has changed. remember(text, supersedes=id) stores and supersedes at "
            "once; unsupersede undoes it."
        ),
        cost="Milliseconds.",
        next="recall, to check that the newer fact is returned.",
    ),
    VerbGuide(
        "review",
        what=(
            "Lists pairs of facts that seem to contradict each other: the same statement with "
            "another value. Nothing is applied automatically."
        ),
        when="After curate reports proposed pairs.",
        cost="Milliseconds.",
        next=(
            "accept lets the newer fact supersede the older; dismiss keeps both and does not propose the pair again."
        ),
    ),
    VerbGuide(
        "connect",
        what=(
            "Creates an edge between two facts: supports, contradicts, causes, or a kind of your "
            "own. supersedes also replaces the target."
        ),
        when="When you know a relation that the texts do not state.",
        cost="Under a millisecond.",
        next="neighbours, to see the edge.",
    ),
    VerbGuide(
        "neighbours",
        what="Lists all links of a fact, of every kind, with the name each goes through.",
        when="To inspect a fact, or to see why two facts are related.",
        cost="Under a millisecond.",
        next="connect, to add a missing edge.",
    ),
    VerbGuide(
        "explore",
        what=("Follows links outward from facts by spreading energy, and returns the paths and why each ended."),
        when=(
            "To find related facts around ids, or around the facts that a query returns. tags "
            "prefers links with these tags."
        ),
        cost="Milliseconds per seed; with a query, one recall more.",
        next="facts for the ids on a path, or connect to add a missing edge.",
    ),
    VerbGuide(
        "communities",
        what=(
            "Lists groups of densely linked facts, as the last dream found them, each with a name "
            "and its most central facts."
        ),
        when=(
            "For an overview, or to search one topic with recall(community=number). The next dream "
            "may change the numbers."
        ),
        cost="Milliseconds.",
        next="recall with a community.",
    ),
    VerbGuide(
        "edges",
        what="Lists stored edges by scope, kind, fact or origin, strongest first.",
        when="To inspect the graph.",
        cost="Milliseconds.",
        next="export for Gephi or networkx.",
    ),
    VerbGuide(
        "facts",
        what="Lists facts by id or filter, newest first.",
        when="To look up facts without a question, or to find ids.",
        cost="Milliseconds.",
        next="forget, connect or neighbours with an id.",
    ),
    VerbGuide(
        "forget",
        what=(
            "Removes facts by id or filter, with their edges and vectors. Nothing of them stays in "
            "the store; a receipt beside it keeps a copy."
        ),
        when=("When something must be removed. dry_run shows what would be removed; purge=True keeps no receipt."),
        cost="Milliseconds; up to a second in a large store, because its index is written again.",
        next="undo with the receipt, until it expires.",
    ),
    VerbGuide(
        "undo",
        what="Restores forgotten facts from a receipt: facts, links, names and descriptions.",
        when=(
            "When too much was removed, within 30 days (forget.undo_days). Items that no longer fit "
            "are skipped and listed."
        ),
        cost="Milliseconds.",
        next="recall, to check the result.",
    ),
    VerbGuide(
        "update",
        what=(
            "Changes the text or fields of a fact; its id stays. Vector, names and links are "
            "updated; history keeps earlier versions."
        ),
        when=("When a fact was stored incorrectly. If the world has changed, store the new fact with supersedes=id."),
        cost="A few milliseconds and one embedding.",
        next="history, to see earlier versions; dream, to link it more deeply.",
    ),
    VerbGuide(
        "pin",
        what=("Marks facts that do not decay and are never archived automatically; unpin removes the mark."),
        when="For facts that must stay even if they are rarely used.",
        cost="Under a millisecond.",
        next="facts, to see the mark.",
    ),
    VerbGuide(
        "archive",
        what="Excludes facts from recall without deleting them; restore includes them again.",
        when="For facts that are no longer needed but may be later. forget removes facts for good.",
        cost="Under a millisecond.",
        next="restore, or forget.",
    ),
    VerbGuide(
        "stats",
        what="Counts facts, edges and waiting facts; reports the model and the search mode.",
        when="To see whether a dream is due or vectors are missing.",
        cost="Milliseconds.",
        next="dream or reembed.",
    ),
    VerbGuide(
        "calibrate",
        what=(
            "Finds the evidence threshold below which recall abstains, from questions that the "
            "memory can answer, and saves it in the store."
        ),
        when=(
            "When recall abstains too often or too rarely, or with an embedder other than the "
            "bundled one. Give 200 questions or more."
        ),
        cost="One recall per question.",
        next="recall, and why for a missing fact.",
    ),
    VerbGuide(
        "compare",
        what=(
            "Asks the same questions under two configurations and compares the results: overlap, "
            "rank correlation, and facts that moved."
        ),
        when="Before changing a preset or a setting permanently. Use realistic questions.",
        cost="Two recalls per question; nothing is saved.",
        next="configure with the better configuration.",
    ),
    VerbGuide(
        "shadow_report",
        what=(
            "Summarises shadow recalls, which ran beside real ones without changing them: overlap, "
            "rank correlation, moved facts, failures."
        ),
        when="Some time after enabling shadow.enabled or shadow.assist.",
        cost="Milliseconds. Each shadow recall costs as much as a recall.",
        next="shadow_clear to start again, or to delete the stored questions.",
    ),
    VerbGuide(
        "export",
        what="Writes all facts and edges to JSONL, or the graph to GraphML.",
        when="To move or archive a memory, or to view the graph in another program.",
        cost="Seconds for large stores.",
        next="load reads the JSONL file.",
    ),
)

VERB_GUIDES: Mapping[str, VerbGuide] = MappingProxyType({page.verb: page for page in _GUIDES})


def guide_text(verb: str | None = None) -> str:
    """The page of a verb, or one line per verb.

    >>> guide_text("dream").splitlines()[0]
    'dream'
    """
    return find_guide_text(VERB_GUIDES, verb)


def find_guide_text(pages: Mapping[str, VerbGuide], verb: str | None) -> str:
    """The page of a verb among these, or one line per verb."""
    if verb is None:
        return "\n".join(f"{page.verb}: {page.what}" for page in pages.values())
    page = pages.get(str(verb))
    if page is None:
        similar = get_close_matches(str(verb), pages, n=1)
        hint = f"Did you mean {similar[0]}? " if similar else ""
        raise InvalidInput(f"There is no page for {verb!r}.", way_out=f"{hint}Available: {', '.join(pages)}.")
    return page.text()
