"""Memory: one synchronous method per verb, without logic."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from copy import copy
from datetime import datetime
from os import PathLike
from typing import Any, Literal, Self, TypeVar, Unpack, overload

from cofire.activation_paths import ExploreResult
from cofire.embedders.base import Embedder
from cofire.guide import guide_text
from cofire.ingest.sources import Messages
from cofire.model import Edge, Fact, FactVersion, Link
from cofire.recall.compare import ConfigurationInput as Configured
from cofire.recall.compare import compare_configurations, shadow_clear, shadow_report
from cofire.recall.custom_channels import OwnChannel, register_channel, unregister_channel
from cofire.recall.explore import ExploreOptions, explore
from cofire.recall.recall_log import recall_and_log
from cofire.recall.request import FilterOptions, NamesInput, RecallOptions
from cofire.recall.why import why
from cofire.results import CompareResult, Picture, Recollection, ShadowReport, WhyResult
from cofire.runtime.effects import Steps
from cofire.runtime.runner import run_steps
from cofire.runtime.session import FROM_SETTINGS, SessionOptions
from cofire.settings.table import Settings
from cofire.stores.base import Store
from cofire.stores.learning_rows import FeedbackCounts
from cofire.verbs import maintenance
from cofire.verbs.connect import (
    ConnectRequest,
    FactPortrait,
    MergeMode,
    connect,
    list_edges,
    list_neighbours,
    read_portrait,
)
from cofire.verbs.curate import CurateResult, curate, why_archived
from cofire.verbs.dream import DreamResult, dream
from cofire.verbs.feedback import FeedbackResult, OptionalIds, feedback, read_use
from cofire.verbs.forget import ForgetOptions, ForgetResult, UndoResult, forget, undo
from cofire.verbs.forget import ReceiptInput as Undoable
from cofire.verbs.graph import CommunitySummary, GraphRequest, draw_graph, list_communities
from cofire.verbs.ingest import IngestOptions, IngestResult, ingest
from cofire.verbs.keyword_arguments import check_keywords
from cofire.verbs.listing import ListRequest, StoreStats, list_facts, read_stats
from cofire.verbs.maintenance import CalibrateResult, back_up_store, calibrate, check_store, reembed
from cofire.verbs.remember import FactInput, OnError, Progress, RememberOptions, RememberResult, remember
from cofire.verbs.review import ReviewProposal, accept_proposal, dismiss_proposal, list_proposals
from cofire.verbs.supersede import supersede, unsupersede
from cofire.verbs.transfer import ExportResult, LoadResult, export, load
from cofire.verbs.update import UpdateOptions, archive, pin, read_history, update

T = TypeVar("T")
VerbCall = Callable[[Settings], Steps[T]]
ProgressListener = Callable[[Progress], None] | None
FilePath = str | PathLike[str]


@check_keywords
class Memory:
    """An associative memory in a SQLite file or another store.

    >>> memory = Memory(":memory:", embedder=None)
    >>> id = memory.remember("PgBouncer runs in transaction mode.", tags=["db"])
    >>> memory.recall("How does PgBouncer run?")[0].text
    'PgBouncer runs in transaction mode.'

    `session` names the current conversation or task, by which recalls are grouped. Without a name, a
    longer pause starts a new session.
    """

    def __init__(
        self,
        store: FilePath | Store | None = None,
        *,
        embedder: Embedder | str | None = FROM_SETTINGS,
        settings: Mapping[str, object] | None = None,
        clock: Callable[[], datetime] | None = None,
        reembedding: bool = False,
        session: str | None = None,
        auth: tuple[str, str] | None = None,
    ) -> None:
        self._opened = SessionOptions(store, embedder, settings or {}, clock, reembedding, session, auth).open()

    @overload
    def remember(  # type: ignore[overload-overlap]
        self,
        text: str | Fact | Mapping[str, Any],
        *,
        errors: OnError = "raise",
        progress: ProgressListener = None,
        **common: Unpack[RememberOptions],
    ) -> str: ...
    @overload
    def remember(
        self,
        text: Iterable[FactInput],
        *,
        errors: Literal["raise"] = "raise",
        progress: ProgressListener = None,
        **common: Unpack[RememberOptions],
    ) -> list[str]: ...
    @overload
    def remember(
        self,
        text: Iterable[FactInput],
        *,
        errors: Literal["skip"],
        progress: ProgressListener = None,
        **common: Unpack[RememberOptions],
    ) -> RememberResult: ...
    def remember(
        self,
        text: Any,
        *,
        errors: OnError = "raise",
        progress: ProgressListener = None,
        **common: Unpack[RememberOptions],
    ) -> str | list[str] | RememberResult:
        """Store one fact and return its id, or several and return their ids in order.

        Several items are all checked before the first is stored.

        text: A text, a Fact, a mapping with the fields of a Fact, or an iterable of these.
        errors: "raise" stores nothing when an item is refused. "skip" stores the others and returns a
            RememberResult, with None for each refused item and the reasons in `skipped`.
        progress: Called with a Progress after each batch.
        """
        return self._run(lambda settings: remember(text, common, settings, errors), progress)

    def ingest(
        self, given: Messages | FilePath, *, progress: ProgressListener = None, **keywords: Unpack[IngestOptions]
    ) -> IngestResult:
        """Store conversations and documents: messages, a file or a folder.

        Pieces that are already stored stay unchanged.

        given: Messages (a list of mappings with role and content), or the path of a file or folder.
        progress: Called with a Progress after each batch.
        """
        return self._run(lambda settings: ingest(given, keywords, settings), progress)

    def recall(self, query: str, **asked: Unpack[RecallOptions]) -> Recollection:
        """Return the facts that answer a question, best first.

        query: The question, or any text.
        """
        return self._run(lambda settings: recall_and_log(query, asked, settings))

    def feedback(
        self, found: Recollection | str, *, helped: OptionalIds = None, hurt: OptionalIds = None
    ) -> FeedbackResult:
        """Report which facts of a recall helped and which hurt.

        The edges that led to them get stronger or weaker.

        found: The result of recall, or its id.
        helped: Ids of the facts that helped.
        hurt: Ids of the facts that were misleading or wrong.
        """
        return self._run(lambda settings: feedback(found, helped, hurt, settings))

    def use(self, id: str) -> FeedbackCounts:
        """Return how often feedback reported that a fact helped or hurt.

        id: The id of the fact.
        """
        return self._run(lambda settings: read_use(id))

    def why(self, query: str, id: str, **asked: Unpack[RecallOptions]) -> WhyResult:
        """Explain why a fact is returned for a question, or why it is not.

        For a fact that is not returned: the stage that drops it, and the changes that would return it.

        query: The question, as given to recall.
        id: The id of the fact.
        """
        return self._run(lambda settings: why(query, id, asked, settings))

    def facts(
        self,
        ids: str | Iterable[str] | None = None,
        *,
        limit: int = 1_000,
        before: str | None = None,
        pinned: bool = False,
        archived: bool = False,
        superseded: bool = False,
        **filters: Unpack[FilterOptions],
    ) -> list[Fact]:
        """List facts by id, or those that pass the filters, newest first. All scopes by default.

        ids: One id or several; an unknown id is an error.
        limit: Maximum number of facts.
        before: The id of the last fact of the previous page.
        pinned: Only pinned facts.
        archived: Only archived facts.
        superseded: Only facts that newer ones have replaced; `superseded_by` names those.
        """
        return self._run(
            lambda settings: list_facts(ids, filters, ListRequest(limit, before, pinned, archived, superseded))
        )

    def forget(
        self,
        ids: str | Iterable[str] | None = None,
        *,
        dry_run: bool = False,
        purge: bool = False,
        **filters: Unpack[FilterOptions],
    ) -> ForgetResult:
        """Delete facts by id or by filter, with their edges. The result carries a receipt for undo.

        ids: One id or several; an unknown id is an error.
        dry_run: Delete nothing, only return what would be deleted.
        purge: Keep no receipt: the facts cannot be restored.
        """
        return self._run(lambda settings: forget(ids, filters, ForgetOptions(dry_run, purge), settings))

    def undo(self, receipt: Undoable, *, scope: NamesInput = None) -> UndoResult:
        """Restore what forget deleted.

        receipt: The result of forget, its receipt, or the id or path of the receipt.
        scope: Restore only the facts of these scopes.
        """
        return self._run(lambda settings: undo(receipt, scope))

    def update(self, id: str, **said: Unpack[UpdateOptions]) -> Fact:
        """Change fields of a fact. It keeps its id; the previous version is kept in its history.

        id: The id of the fact.
        """
        return self._run(lambda settings: update(id, said, settings))

    def history(self, id: str) -> list[FactVersion]:
        """Return the previous versions of a fact, oldest first.

        id: The id of the fact.
        """
        return self._run(lambda settings: read_history(id))

    def pin(self, ids: str | Iterable[str]) -> list[Fact]:
        """Exempt facts from decay and archiving; returns those that were not pinned before.

        ids: One id or several.
        """
        return self._run(lambda settings: pin(ids, pinned=True))

    def unpin(self, ids: str | Iterable[str]) -> list[Fact]:
        """Remove the pin of facts; returns those that were pinned.

        ids: One id or several.
        """
        return self._run(lambda settings: pin(ids, pinned=False))

    def archive(self, ids: str | Iterable[str]) -> list[Fact]:
        """Exclude facts from recall without deleting them; returns the newly archived facts.

        ids: One id or several.
        """
        return self._run(lambda settings: archive(ids, archived=True))

    def restore(self, ids: str | Iterable[str]) -> list[Fact]:
        """Return archived facts to recall; returns those that were archived.

        ids: One id or several.
        """
        return self._run(lambda settings: archive(ids, archived=False))

    def connect(
        self,
        source: str,
        target: str,
        *,
        kind: str,
        weight: float | None = None,
        confidence: float | None = None,
        tags: NamesInput = None,
        mode: MergeMode = "reinforce",
    ) -> Edge:
        """Store an edge between two facts of one scope.

        source: The id of the fact where the edge starts.
        target: The id of the fact where it ends.
        kind: Kind of the edge, such as supports, causes or contradicts.
        weight: Strength from 0 to 1.
        confidence: How certain the connection is, from 0 to 1.
        tags: Tags of the edge; explore prefers edges whose tags match.
        mode: If the edge exists: reinforce (raise its confidence), update (take the new values), skip (keep it) or error.
        """
        return self._run(
            lambda settings: connect(source, target, ConnectRequest(kind, weight, confidence, tags, mode), settings)
        )

    def edges(
        self,
        *,
        scope: NamesInput = None,
        kind: NamesInput = None,
        ids: str | Iterable[str] | None = None,
        origin: str | None = None,
        limit: int = 10_000,
    ) -> list[Edge]:
        """List stored edges, strongest first.

        scope: Only edges of these scopes.
        kind: Only edges of these kinds.
        ids: Only edges that touch one of these facts.
        origin: Only edges of this origin, such as user, dream or use.
        limit: Maximum number of edges.
        """
        return self._run(lambda settings: list_edges(scope, kind, ids, origin, limit))

    def neighbours(self, id: str, *, limit: int = 100) -> list[Link]:
        """List the facts linked with a fact, by edges, shared names or its session.

        id: The id of the fact.
        limit: Maximum number of links.
        """
        return self._run(lambda settings: list_neighbours(id, limit))

    def portrait(self, id: str, *, limit: int = 100) -> FactPortrait:
        """Return a fact with its links, descriptions and importance.

        id: The id of the fact.
        limit: Maximum number of links.
        """
        return self._run(lambda settings: read_portrait(id, limit))

    def graph(
        self,
        ids: str | Iterable[str] | None = None,
        *,
        depth: int = 1,
        scope: NamesInput = None,
        kind: NamesInput = None,
        community: int | None = None,
        where: Mapping[str, object] | None = None,
        limit: int = 10_000,
    ) -> Picture:
        """Return nodes and edges for drawing: all facts or those around some.

        Above `limit` facts, communities are the nodes.

        ids: The facts in the centre: one id or several. All facts by default.
        depth: Links followed from the centre.
        scope: Only facts of these scopes.
        kind: Only edges of these kinds.
        community: Only facts of the community with this number.
        where: Only facts whose metadata match, as in recall; the facts in the centre are always drawn.
        limit: Maximum number of facts drawn one by one.
        """
        return self._run(lambda settings: draw_graph(ids, GraphRequest(scope, kind, limit, depth, community, where)))

    def explore(self, ids: str | Iterable[str] | None = None, **asked: Unpack[ExploreOptions]) -> ExploreResult:
        """Spread energy from facts along their links and return the paths.

        The async version can be iterated, one seed at a time.

        ids: The facts to start from: one id or several. A single text that is no id is taken as a query.
        """
        return self._run(lambda settings: explore(ids, asked, settings))

    def dream(self, *, scope: NamesInput = None, progress: ProgressListener = None) -> DreamResult:
        """Consolidate the facts stored since the last dream: link them and find communities.

        Safe to interrupt and to repeat.

        scope: Only these scopes.
        progress: Called with a Progress after each step.
        """
        return self._run(lambda settings: dream(scope, settings), progress)

    def communities(self, *, scope: NamesInput = None, limit: int = 100) -> list[CommunitySummary]:
        """List the communities that the last dream found, largest first.

        recall(community=number) searches one alone.

        scope: Only communities of these scopes.
        limit: Maximum number of communities.
        """
        return self._run(lambda settings: list_communities(scope, limit))

    def curate(self, *, dry_run: bool = False, progress: ProgressListener = None) -> CurateResult:
        """Decay unused edges and archive facts of low retention.

        Also recomputes importance and communities, and checks the store.

        dry_run: Change nothing, only report what would change.
        progress: Called with a Progress after each step.
        """
        return self._run(lambda settings: curate(dry_run, settings), progress)

    def why_archived(self, id: str) -> str | None:
        """Return why curation archived a fact; None if it did not.

        id: The id of the fact.
        """
        return self._run(lambda settings: why_archived(id))

    def supersede(self, old: str, new: str) -> Edge:
        """Mark an older fact as replaced by a newer one.

        Recall finds the older one only with an earlier `as_of`.

        old: The id of the fact that is replaced.
        new: The id of the fact that replaces it.
        """
        return self._run(lambda settings: supersede(old, new, settings))

    def unsupersede(self, old: str, new: str) -> None:
        """Revert supersede: the older fact is valid again.

        old: The id of the older fact.
        new: The id of the newer fact.
        """
        return self._run(lambda settings: unsupersede(old, new, settings))

    def review(self, *, everything: bool = False) -> list[ReviewProposal]:
        """List pairs of facts that seem to contradict each other and await a decision.

        everything: Also list the pairs already decided.
        """
        return self._run(lambda settings: list_proposals(everything))

    def accept(self, old: str, new: str) -> Edge:
        """Decide a proposed pair: the newer fact supersedes the older one.

        old: The id of the older fact.
        new: The id of the newer fact.
        """
        return self._run(lambda settings: accept_proposal(old, new, settings))

    def dismiss(self, old: str, new: str) -> None:
        """Decide a proposed pair: both facts stay, and the pair is not proposed again.

        old: The id of the older fact.
        new: The id of the newer fact.
        """
        return self._run(lambda settings: dismiss_proposal(old, new))

    def guide(self, verb: str | None = None) -> str:
        """Return a short page on a verb for agents, or one line on each verb.

        verb: The name of a verb, such as recall or dream.
        """
        return guide_text(verb)

    def export(
        self, path: FilePath, *, progress: ProgressListener = None, **filters: Unpack[FilterOptions]
    ) -> ExportResult:
        """Write facts and edges to a JSONL file, or to GraphML if the file name ends in .graphml.

        path: The file to write.
        progress: Called with a Progress after each batch.
        """
        return self._run(lambda settings: export(path, filters), progress)

    def load(self, path: FilePath, *, progress: ProgressListener = None) -> LoadResult:
        """Read a JSONL export. Facts that are already stored are recognised.

        path: The file to read.
        progress: Called with a Progress after each batch.
        """
        return self._run(lambda settings: load(path, settings), progress)

    def stats(self) -> StoreStats:
        """Return counts of facts and edges, the embedding model and the search mode."""
        return self._run(lambda settings: read_stats())

    def reembed(self, *, progress: ProgressListener = None) -> int:
        """Compute every vector anew with the current embedder.

        Open with `reembedding=True` if the store has another model's vectors.

        progress: Called with a Progress after each batch.
        """
        return self._run(reembed, progress)

    def calibrate(
        self,
        questions: Iterable[str],
        *,
        scope: NamesInput = None,
        false_silence: float = 0.01,
        dry_run: bool = False,
        progress: ProgressListener = None,
    ) -> CalibrateResult:
        """Compute the evidence below which recall abstains, and store it.

        Needs 200 or more answerable questions.

        questions: Questions that the stored facts answer.
        scope: Search these scopes.
        false_silence: Share of answerable questions that may be refused.
        dry_run: Compute the threshold without storing it.
        progress: Called with a Progress after each batch.
        """
        return self._run(lambda settings: calibrate(questions, scope, false_silence, dry_run, settings), progress)

    def compare(
        self,
        questions: Iterable[str],
        *,
        b: Configured,
        a: Configured = None,
        k: int | None = None,
        progress: ProgressListener = None,
        **filters: Unpack[FilterOptions],
    ) -> CompareResult:
        """Ask the same questions under two configurations and report the differences.

        questions: The questions to ask.
        b: The second configuration: the name of a preset, or settings by name.
        a: The first configuration; the current settings by default.
        k: Maximum number of facts per question.
        progress: Called with a Progress after each question.
        """
        return self._run(lambda settings: compare_configurations(questions, filters, (a, b), k, settings), progress)

    def shadow_report(self, kind: str | None = None) -> ShadowReport:
        """Summarise the stored shadow recalls.

        kind: Only those of this kind: recall or assist. Both by default.
        """
        return self._run(lambda settings: shadow_report(kind, settings))

    def shadow_clear(self) -> int:
        """Delete all stored shadow recalls and snapshots; returns their number."""
        return self._run(shadow_clear)

    def register(self, channel: OwnChannel) -> None:
        """Add a retrieval channel of your own to the built-in ones.

        channel: The channel: a name and a function that proposes facts.
        """
        register_channel(self._opened.context, channel)

    def unregister(self, name: str) -> bool:
        """Remove a channel of your own; returns whether it was registered.

        name: The name of the channel.
        """
        return unregister_channel(self._opened.context, name)

    def configure(self, name: str, value: object) -> object:
        """Store a setting in the memory itself; returns the value as read.

        name: The name of the setting, such as recall.k.
        value: Its value, or the text of its value.
        """
        return self._run(lambda settings: maintenance.store_setting(name, value))

    def reset(self, name: str) -> bool:
        """Remove a setting from the store; returns whether it was there.

        name: The name of the setting.
        """
        return self._run(lambda settings: maintenance.reset_setting(name))

    def backup(self, path: FilePath) -> None:
        """Copy the open store to a new file.

        path: The file to write; it must not exist.
        """
        return self._run(lambda settings: back_up_store(path))

    def check(self) -> list[str]:
        """Check the integrity of the store; returns the problems found."""
        return self._run(lambda settings: check_store())

    def settings(self) -> Settings:
        """Return all settings in force."""
        return self._run(maintenance.read_settings)

    def in_session(self, session: str) -> Self:
        """Return the same open memory with another session for its recalls.

        Closing one closes both.

        session: The name of the session.
        """
        other = copy(self)
        other._opened = self._opened.in_session(session)
        return other

    def close(self) -> None:
        """Close the store and the embedder."""
        self._opened.close()

    def _run(self, verb: VerbCall[T], listen: ProgressListener = None) -> T:
        return run_steps(self._opened.with_settings(verb), self._opened.context, listen)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
