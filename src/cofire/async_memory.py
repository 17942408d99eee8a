"""AsyncMemory: the methods of Memory, asynchronous."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from copy import copy
from datetime import datetime
from os import PathLike
from typing import Any, Literal, Self, TypeVar, Unpack, overload

from cofire.activation_paths import ExploreResult, SeedExploration
from cofire.embedders.base import Embedder
from cofire.errors import StoreClosed
from cofire.guide import guide_text
from cofire.ingest.sources import Messages
from cofire.memory import Memory
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
from cofire.runtime.runner import SharedResource, run_steps_async, stream_steps_async
from cofire.runtime.session import FROM_SETTINGS, MemorySession, SessionOptions
from cofire.runtime.streams import StreamingResult, streaming_method
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
from cofire.verbs.keyword_arguments import check_keywords, copy_docstrings
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


@copy_docstrings(Memory)
@check_keywords
class AsyncMemory:
    """Memory with asynchronous methods. It opens at the first call, or at `async with`."""

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
        self._place = SessionOptions(store, embedder, settings or {}, clock, reembedding, session, auth)
        self._opening = SharedResource(self._place.aopen)
        self._closed = False

    @overload
    async def remember(  # type: ignore[overload-overlap]
        self,
        text: str | Fact | Mapping[str, Any],
        *,
        errors: OnError = "raise",
        progress: ProgressListener = None,
        **common: Unpack[RememberOptions],
    ) -> str: ...
    @overload
    async def remember(
        self,
        text: Iterable[FactInput],
        *,
        errors: Literal["raise"] = "raise",
        progress: ProgressListener = None,
        **common: Unpack[RememberOptions],
    ) -> list[str]: ...
    @overload
    async def remember(
        self,
        text: Iterable[FactInput],
        *,
        errors: Literal["skip"],
        progress: ProgressListener = None,
        **common: Unpack[RememberOptions],
    ) -> RememberResult: ...
    async def remember(
        self,
        text: Any,
        *,
        errors: OnError = "raise",
        progress: ProgressListener = None,
        **common: Unpack[RememberOptions],
    ) -> str | list[str] | RememberResult:
        """Store one fact and return its id, or several and return their ids in order."""
        return await self._run(lambda settings: remember(text, common, settings, errors), progress)

    async def ingest(
        self, given: Messages | FilePath, *, progress: ProgressListener = None, **keywords: Unpack[IngestOptions]
    ) -> IngestResult:
        """Store conversations and documents: messages, a file or a folder."""
        return await self._run(lambda settings: ingest(given, keywords, settings), progress)

    async def recall(self, query: str, **asked: Unpack[RecallOptions]) -> Recollection:
        """Return the facts that answer a question, best first."""
        return await self._run(lambda settings: recall_and_log(query, asked, settings))

    async def feedback(
        self, found: Recollection | str, *, helped: OptionalIds = None, hurt: OptionalIds = None
    ) -> FeedbackResult:
        """Report which facts of a recall helped and which hurt."""
        return await self._run(lambda settings: feedback(found, helped, hurt, settings))

    async def use(self, id: str) -> FeedbackCounts:
        """Return how often feedback reported that a fact helped or hurt."""
        return await self._run(lambda settings: read_use(id))

    async def why(self, query: str, id: str, **asked: Unpack[RecallOptions]) -> WhyResult:
        """Explain why a fact is returned for a question, or why it is not."""
        return await self._run(lambda settings: why(query, id, asked, settings))

    async def facts(
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
        """List facts by id, or those that pass the filters, newest first. All scopes by default."""
        return await self._run(
            lambda settings: list_facts(ids, filters, ListRequest(limit, before, pinned, archived, superseded))
        )

    async def forget(
        self,
        ids: str | Iterable[str] | None = None,
        *,
        dry_run: bool = False,
        purge: bool = False,
        **filters: Unpack[FilterOptions],
    ) -> ForgetResult:
        """Delete facts by id or by filter, with their edges. The result carries a receipt for undo."""
        return await self._run(lambda settings: forget(ids, filters, ForgetOptions(dry_run, purge), settings))

    async def undo(self, receipt: Undoable, *, scope: NamesInput = None) -> UndoResult:
        """Restore what forget deleted."""
        return await self._run(lambda settings: undo(receipt, scope))

    async def update(self, id: str, **said: Unpack[UpdateOptions]) -> Fact:
        """Change fields of a fact. It keeps its id; the previous version is kept in its history."""
        return await self._run(lambda settings: update(id, said, settings))

    async def history(self, id: str) -> list[FactVersion]:
        """Return the previous versions of a fact, oldest first."""
        return await self._run(lambda settings: read_history(id))

    async def pin(self, ids: str | Iterable[str]) -> list[Fact]:
        """Exempt facts from decay and archiving; returns those that were not pinned before."""
        return await self._run(lambda settings: pin(ids, pinned=True))

    async def unpin(self, ids: str | Iterable[str]) -> list[Fact]:
        """Remove the pin of facts; returns those that were pinned."""
        return await self._run(lambda settings: pin(ids, pinned=False))

    async def archive(self, ids: str | Iterable[str]) -> list[Fact]:
        """Exclude facts from recall without deleting them; returns the newly archived facts."""
        return await self._run(lambda settings: archive(ids, archived=True))

    async def restore(self, ids: str | Iterable[str]) -> list[Fact]:
        """Return archived facts to recall; returns those that were archived."""
        return await self._run(lambda settings: archive(ids, archived=False))

    async def connect(
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
        """Store an edge between two facts of one scope."""
        return await self._run(
            lambda settings: connect(source, target, ConnectRequest(kind, weight, confidence, tags, mode), settings)
        )

    async def edges(
        self,
        *,
        scope: NamesInput = None,
        kind: NamesInput = None,
        ids: str | Iterable[str] | None = None,
        origin: str | None = None,
        limit: int = 10_000,
    ) -> list[Edge]:
        """List stored edges, strongest first."""
        return await self._run(lambda settings: list_edges(scope, kind, ids, origin, limit))

    async def neighbours(self, id: str, *, limit: int = 100) -> list[Link]:
        """List the facts linked with a fact, by edges, shared names or its session."""
        return await self._run(lambda settings: list_neighbours(id, limit))

    async def portrait(self, id: str, *, limit: int = 100) -> FactPortrait:
        """Return a fact with its links, descriptions and importance."""
        return await self._run(lambda settings: read_portrait(id, limit))

    async def graph(
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
        """Return nodes and edges for drawing: all facts or those around some."""
        return await self._run(
            lambda settings: draw_graph(ids, GraphRequest(scope, kind, limit, depth, community, where))
        )

    @streaming_method("ExploreResult")
    def explore(
        self, ids: str | Iterable[str] | None = None, **asked: Unpack[ExploreOptions]
    ) -> StreamingResult[ExploreResult, SeedExploration]:
        """Spread energy from facts along their links and return the paths."""
        return self._stream(lambda settings: explore(ids, asked, settings))

    async def dream(self, *, scope: NamesInput = None, progress: ProgressListener = None) -> DreamResult:
        """Consolidate the facts stored since the last dream: link them and find communities."""
        return await self._run(lambda settings: dream(scope, settings), progress)

    async def communities(self, *, scope: NamesInput = None, limit: int = 100) -> list[CommunitySummary]:
        """List the communities that the last dream found, largest first."""
        return await self._run(lambda settings: list_communities(scope, limit))

    async def curate(self, *, dry_run: bool = False, progress: ProgressListener = None) -> CurateResult:
        """Decay unused edges and archive facts of low retention."""
        return await self._run(lambda settings: curate(dry_run, settings), progress)

    async def why_archived(self, id: str) -> str | None:
        """Return why curation archived a fact; None if it did not."""
        return await self._run(lambda settings: why_archived(id))

    async def supersede(self, old: str, new: str) -> Edge:
        """Mark an older fact as replaced by a newer one."""
        return await self._run(lambda settings: supersede(old, new, settings))

    async def unsupersede(self, old: str, new: str) -> None:
        """Revert supersede: the older fact is valid again."""
        return await self._run(lambda settings: unsupersede(old, new, settings))

    async def review(self, *, everything: bool = False) -> list[ReviewProposal]:
        """List pairs of facts that seem to contradict each other and await a decision."""
        return await self._run(lambda settings: list_proposals(everything))

    async def accept(self, old: str, new: str) -> Edge:
        """Decide a proposed pair: the newer fact supersedes the older one."""
        return await self._run(lambda settings: accept_proposal(old, new, settings))

    async def dismiss(self, old: str, new: str) -> None:
        """Decide a proposed pair: both facts stay, and the pair is not proposed again."""
        return await self._run(lambda settings: dismiss_proposal(old, new))

    async def guide(self, verb: str | None = None) -> str:
        """Return a short page on a verb for agents, or one line on each verb."""
        return guide_text(verb)

    async def export(
        self, path: FilePath, *, progress: ProgressListener = None, **filters: Unpack[FilterOptions]
    ) -> ExportResult:
        """Write facts and edges to a JSONL file, or to GraphML if the file name ends in .graphml."""
        return await self._run(lambda settings: export(path, filters), progress)

    async def load(self, path: FilePath, *, progress: ProgressListener = None) -> LoadResult:
        """Read a JSONL export. Facts that are already stored are recognised."""
        return await self._run(lambda settings: load(path, settings), progress)

    async def stats(self) -> StoreStats:
        """Return counts of facts and edges, the embedding model and the search mode."""
        return await self._run(lambda settings: read_stats())

    async def reembed(self, *, progress: ProgressListener = None) -> int:
        """Compute every vector anew with the current embedder."""
        return await self._run(reembed, progress)

    async def calibrate(
        self,
        questions: Iterable[str],
        *,
        scope: NamesInput = None,
        false_silence: float = 0.01,
        dry_run: bool = False,
        progress: ProgressListener = None,
    ) -> CalibrateResult:
        """Compute the evidence below which recall abstains, and store it."""
        return await self._run(lambda settings: calibrate(questions, scope, false_silence, dry_run, settings), progress)

    async def compare(
        self,
        questions: Iterable[str],
        *,
        b: Configured,
        a: Configured = None,
        k: int | None = None,
        progress: ProgressListener = None,
        **filters: Unpack[FilterOptions],
    ) -> CompareResult:
        """Ask the same questions under two configurations and report the differences."""
        return await self._run(
            lambda settings: compare_configurations(questions, filters, (a, b), k, settings), progress
        )

    async def shadow_report(self, kind: str | None = None) -> ShadowReport:
        """Summarise the stored shadow recalls."""
        return await self._run(lambda settings: shadow_report(kind, settings))

    async def shadow_clear(self) -> int:
        """Delete all stored shadow recalls and snapshots; returns their number."""
        return await self._run(shadow_clear)

    async def register(self, channel: OwnChannel) -> None:
        """Add a retrieval channel of your own to the built-in ones."""
        register_channel((await self._open()).context, channel)

    async def unregister(self, name: str) -> bool:
        """Remove a channel of your own; returns whether it was registered."""
        return unregister_channel((await self._open()).context, name)

    async def configure(self, name: str, value: object) -> object:
        """Store a setting in the memory itself; returns the value as read."""
        return await self._run(lambda settings: maintenance.store_setting(name, value))

    async def reset(self, name: str) -> bool:
        """Remove a setting from the store; returns whether it was there."""
        return await self._run(lambda settings: maintenance.reset_setting(name))

    async def backup(self, path: FilePath) -> None:
        """Copy the open store to a new file."""
        return await self._run(lambda settings: back_up_store(path))

    async def check(self) -> list[str]:
        """Check the integrity of the store; returns the problems found."""
        return await self._run(lambda settings: check_store())

    async def settings(self) -> Settings:
        """Return all settings in force."""
        return await self._run(maintenance.read_settings)

    async def in_session(self, session: str) -> Self:
        """Return the same open memory with another session for its recalls."""
        other, opened = copy(self), await self._open()
        other._opening = self._opening.holding(opened.in_session(session))
        return other

    async def close(self) -> None:
        """Close the store and the embedder."""
        self._closed = True
        await self._opening.close(MemorySession.aclose)

    async def _open(self) -> MemorySession:
        if self._closed:
            raise StoreClosed("This memory was closed.", way_out="Open it again.")
        return await self._opening.opened()

    async def _run(self, verb: VerbCall[T], listen: ProgressListener = None) -> T:
        opened = await self._open()
        return await run_steps_async(opened.with_settings(verb), opened.context, listen)

    def _stream(self, verb: VerbCall[T]) -> StreamingResult[T, Any]:
        async def parts() -> AsyncIterator[Any]:
            opened = await self._open()
            async for part in stream_steps_async(opened.with_settings(verb), opened.context):
                yield part

        return StreamingResult(lambda: self._run(verb), parts)

    async def __aenter__(self) -> Self:
        try:
            await self._open()
        except asyncio.CancelledError:
            await self.close()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
