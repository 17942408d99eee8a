"""A short page on each verb for agents."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from types import MappingProxyType

from cofire.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class VerbGuide:
    """What an agent should know of a verb."""

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
        "Stores facts and wires them in: names, turns of a session, the facts most like them. The same fact again is recognised.",
        "When something is worth knowing later: one fact a sentence or short paragraph, with subject, tags, session and time where known. "
        "supersedes=id replaces an older fact.",
        "A few milliseconds and one embedding. Many facts in one call are faster.",
        "recall to find it, dream to connect it more deeply.",
    ),
    VerbGuide(
        "recall",
        "Finds the facts that answer a question, with the reasons, or says that nothing is known.",
        "Before answering from memory; narrow it by scope, session, tags, speaker, time, or metadata (where).",
        "A few milliseconds and one embedding. No language model.",
        "found.text(budget) for a prompt, found.xray() for the reasons, feedback on what helped, why about a fact that is missing.",
    ),
    VerbGuide(
        "feedback",
        "Tells memory which facts of a recall helped and which hurt. What led to the helpful ones, and what joins them, grows stronger.",
        "After an answer that used recalled facts. Give what recall returned, or its id; name only facts that came back.",
        "A millisecond.",
        "recall related questions; use tells how a fact fared so far.",
    ),
    VerbGuide(
        "why",
        "Tells why a fact comes back for a question, or the first stage where it is lost, and which changes bring it back.",
        "When a fact that you expect is missing, or one that you do not expect is there. Give the same arguments as to recall.",
        "A recall, and where the fact is missing up to a few dozen more: every remedy was really tried.",
        "recall with what the first remedy says.",
    ),
    VerbGuide(
        "ingest",
        "Takes in conversations and documents: chat messages, exports, Markdown and text files, split into facts.",
        "To begin with what you have. A second run stores nothing twice.",
        "One embedding a fact; a progress bar tells how far it is.",
        "dream, once it is all there.",
    ),
    VerbGuide(
        "dream",
        "Consolidates what waits in the inbox: scores each fact against its kin, links causes and later-named subjects, "
        "ranks and groups the graph. Shared tags raise connectivity: facts with a tag in common are linked at a lower likeness.",
        "After many facts, or when stats says that facts are waiting. It can be stopped and run again.",
        "Seconds for thousands of facts; no embedding, no language model.",
        "neighbours and edges, to see what was linked.",
    ),
    VerbGuide(
        "curate",
        "Lets edges fade that nobody strengthens, archives facts by retention and budget, ranks and groups the graph, proposes facts that "
        "seem to disagree, and checks. Archived facts are out of recall, never deleted.",
        "Now and then, or on a schedule with curate.every_hours. Try dry_run first. It can be stopped and run again.",
        "Seconds for a hundred thousand facts; no embedding, no language model.",
        "review for what was proposed, why_archived about a fact that is gone from recall.",
    ),
    VerbGuide(
        "supersede",
        "Marks an older fact as replaced by a newer one: recall finds the older only with as_of before.",
        "When what was true has changed; remember(text, supersedes=id) does both at once. unsupersede takes it back.",
        "Milliseconds.",
        "recall, to see that the newer one answers.",
    ),
    VerbGuide(
        "review",
        "Lists pairs of facts that seem to disagree: the same said of the same thing, with another value. Nothing is applied by itself.",
        "After curate says that pairs were proposed.",
        "Milliseconds.",
        "accept lets the newer fact supersede the older; dismiss keeps both, and the pair does not come back.",
    ),
    VerbGuide(
        "connect",
        "Makes an edge between two facts: supports, contradicts, causes, or a kind of your own. supersedes also replaces the target.",
        "When you know a connection that the texts do not show.",
        "Under a millisecond.",
        "neighbours, to see it in its place.",
    ),
    VerbGuide(
        "neighbours",
        "Lists all that a fact is linked with, of every kind, and what each link goes through.",
        "To look around a fact, or to see why two facts belong together.",
        "Under a millisecond.",
        "connect what is missing.",
    ),
    VerbGuide(
        "explore",
        "Follows energy outward from facts, hop by hop along their links, and returns the paths and why each ended.",
        "To see what hangs together around some ids, or around what a query finds; tags prefer links of a topic.",
        "Milliseconds a seed; with a query one recall besides.",
        "facts with the ids on a path, or connect what is missing.",
    ),
    VerbGuide(
        "communities",
        "Lists groups of facts that hang together, as the last dream found them, each with a name and its most central facts.",
        "To get an overview, or to ask one topic alone with recall(community=number). Numbers may change with the next dream.",
        "Milliseconds.",
        "recall with a community.",
    ),
    VerbGuide(
        "edges",
        "Lists stored edges by scope, kind, fact or origin, the strongest first.",
        "To inspect the graph or to export a part of it.",
        "Milliseconds.",
        "export for Gephi or networkx.",
    ),
    VerbGuide(
        "facts",
        "Lists facts by id or filter, newest first.",
        "To look things up without a question, or to find ids.",
        "Milliseconds.",
        "forget, connect or neighbours with an id.",
    ),
    VerbGuide(
        "forget",
        "Removes facts by id or filter with all that hangs on them; nothing of them is left in the store. Its receipt keeps them apart.",
        "When something must not be known any more. Try dry_run first: it tells what would go. purge=True keeps no receipt.",
        "Milliseconds; in a large store up to a second, since its index is written anew.",
        "undo with the receipt, while it lasts.",
    ),
    VerbGuide(
        "undo",
        "Brings back what was forgotten, by its receipt: facts, links, names, descriptions, all as they were.",
        "When too much was forgotten, within 30 days (forget.undo_days). What has no place any more is told as skipped.",
        "Milliseconds.",
        "recall, to see it again.",
    ),
    VerbGuide(
        "update",
        "Changes a fact under its id: text, subject, tags, times, metadata. Vector, names and links follow; history keeps what it said.",
        "When a fact was stored wrongly. If the world has changed, remember the new fact with supersedes=id.",
        "A few milliseconds and one embedding.",
        "history, to see what it said before; dream, to connect it more deeply.",
    ),
    VerbGuide(
        "pin",
        "Marks facts that never fade and are never archived by themselves; unpin takes the mark away.",
        "For what must stay, however seldom it is asked for.",
        "Under a millisecond.",
        "facts, to see the mark.",
    ),
    VerbGuide(
        "archive",
        "Puts facts out of recall without losing them; restore brings them back.",
        "For what is done with but may be wanted again. forget is for what must go.",
        "Under a millisecond.",
        "restore, or forget.",
    ),
    VerbGuide(
        "stats",
        "Counts facts, edges and what waits in the inbox; tells the model and whether search goes by words alone.",
        "To see whether a dream is due or vectors are missing.",
        "Milliseconds.",
        "dream or reembed.",
    ),
    VerbGuide(
        "calibrate",
        "Finds the evidence below which memory says that it knows nothing, from questions that it can answer, and keeps it in the store.",
        "When memory is silent too often or too seldom, or when the embedder is not the bundled one. Give 200 questions or more.",
        "A recall a question.",
        "recall, and why about a fact that is missing.",
    ),
    VerbGuide(
        "compare",
        "Asks the same questions under two configurations and tells what changes: how much overlaps, how alike the order is, who moved.",
        "Before changing a preset or a setting for good. Give questions as they are really asked.",
        "Two recalls a question; nothing is kept.",
        "configure with what proved better.",
    ),
    VerbGuide(
        "shadow_report",
        "Sums up the shadow recalls that were run beside real ones without changing them: overlap, order, facts that moved, failures.",
        "After a while with shadow.enabled or shadow.assist switched on.",
        "Milliseconds; but each shadow recall costs as much as a recall.",
        "shadow_clear to begin anew, or to be rid of the questions that are kept.",
    ),
    VerbGuide(
        "export",
        "Writes all facts and edges to JSONL, or the graph to GraphML.",
        "To move, archive, or look at the graph in another program.",
        "Seconds for large stores.",
        "load reads the JSONL back.",
    ),
)

VERB_GUIDES: Mapping[str, VerbGuide] = MappingProxyType({page.verb: page for page in _GUIDES})


def guide_text(verb: str | None = None) -> str:
    """The page of a verb, or one line a verb.

    >>> guide_text("dream").splitlines()[0]
    'dream'
    """
    return find_guide_text(VERB_GUIDES, verb)


def find_guide_text(pages: Mapping[str, VerbGuide], verb: str | None) -> str:
    """Of some pages the one of a verb, or one line a verb."""
    if verb is None:
        return "\n".join(f"{page.verb}: {page.what}" for page in pages.values())
    page = pages.get(str(verb))
    if page is None:
        near = get_close_matches(str(verb), pages, n=1)
        hint = f"Did you mean {near[0]}? " if near else ""
        raise InvalidInput(f"There is no page on {verb!r}.", way_out=f"{hint}There are {', '.join(pages)}.")
    return page.text()
