"""AsyncMemory: the verbs of `memory`, awaited. One method a verb, no logic."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from copy import copy
from datetime import datetime
from os import PathLike
from typing import Any, Literal, Self, TypeVar, Unpack, overload

from cofire.asks import Asking
from cofire.driving import Opening, arun, astream
from cofire.embedders.base import Embedder
from cofire.errors import StoreClosed
from cofire.guide import guide
from cofire.ingesting.gathering import Messages
from cofire.keyword_arguments import check_keywords, copy_docstrings
from cofire.learned import Use
from cofire.memory import Memory
from cofire.model import Edge, Fact, Link, Past
from cofire.opening import FROM_SETTINGS, Opened, Place
from cofire.own_channels import OwnChannel, register, unregister
from cofire.pictures import Picture
from cofire.reasons import Why
from cofire.recollection import Recollection
from cofire.settings import Settings
from cofire.shadows import Comparisons, ShadowReport
from cofire.spreads import Exploration, SeedExploration
from cofire.stores.base import Store
from cofire.streaming import Streaming, streamed
from cofire.verbs import configuring
from cofire.verbs.asking import Asked, Filters, Names
from cofire.verbs.calibrate import Calibrated, calibrate
from cofire.verbs.communities import Community, communities
from cofire.verbs.comparing import Given as Configured
from cofire.verbs.comparing import compare
from cofire.verbs.connect import Drawn, MergeMode, Portrait, connect, edges, neighbours, portrait
from cofire.verbs.curate import Curated, curate, why_archived
from cofire.verbs.dream import Dreamed, dream
from cofire.verbs.explore import Exploring, explore
from cofire.verbs.exporting import Exported, export
from cofire.verbs.feedback import Ids, Learned, feedback, use
from cofire.verbs.forget import Forgotten, Manner, forget
from cofire.verbs.graph import Frame, graph
from cofire.verbs.ingest import Ingested, Keywords, ingest
from cofire.verbs.listing import Page, Stats, facts, stats
from cofire.verbs.loading import Loaded, load
from cofire.verbs.pin import archive, pin
from cofire.verbs.reembed import reembed
from cofire.verbs.remember import Common, Given, OnError, Progress, RememberResult, remember
from cofire.verbs.review import Proposal, accept, dismiss, review
from cofire.verbs.shadowing import shadow_clear, shadow_report
from cofire.verbs.showing import recall_shown
from cofire.verbs.supersede import supersede, unsupersede
from cofire.verbs.tending import backup, check
from cofire.verbs.undo import Given as Undoable
from cofire.verbs.undo import Restored, undo
from cofire.verbs.update import Said, history, update
from cofire.verbs.why import why

T = TypeVar("T")
Verb = Callable[[Settings], Asking[T]]
Listen = Callable[[Progress], None] | None
Path = str | PathLike[str]


@copy_docstrings(Memory)
@check_keywords
class AsyncMemory:
    """The same memory for programs that await. It opens at its first verb, or at `async with`."""

    def __init__(
        self,
        store: Path | Store | None = None,
        *,
        embedder: Embedder | str | None = FROM_SETTINGS,
        settings: Mapping[str, object] | None = None,
        clock: Callable[[], datetime] | None = None,
        reembedding: bool = False,
        session: str | None = None,
        auth: tuple[str, str] | None = None,
    ) -> None:
        self._place = Place(store, embedder, settings or {}, clock, reembedding, session, auth)
        self._opening = Opening(self._place.aopen)
        self._closed = False

    @overload
    async def remember(  # type: ignore[overload-overlap]
        self,
        text: str | Fact | Mapping[str, Any],
        *,
        errors: OnError = "raise",
        progress: Listen = None,
        **common: Unpack[Common],
    ) -> str: ...
    @overload
    async def remember(
        self,
        text: Iterable[Given],
        *,
        errors: Literal["raise"] = "raise",
        progress: Listen = None,
        **common: Unpack[Common],
    ) -> list[str]: ...
    @overload
    async def remember(
        self, text: Iterable[Given], *, errors: Literal["skip"], progress: Listen = None, **common: Unpack[Common]
    ) -> RememberResult: ...
    async def remember(
        self, text: Any, *, errors: OnError = "raise", progress: Listen = None, **common: Unpack[Common]
    ) -> str | list[str] | RememberResult:
        """Store one fact and return its id, or several and return their ids in order."""
        return await self._run(lambda settings: remember(text, common, settings, errors), progress)

    async def ingest(
        self, given: Messages | Path, *, progress: Listen = None, **keywords: Unpack[Keywords]
    ) -> Ingested:
        """Store conversations and documents: messages, a file or a folder. Pieces that are already stored stay unchanged."""
        return await self._run(lambda settings: ingest(given, keywords, settings), progress)

    async def recall(self, query: str, **asked: Unpack[Asked]) -> Recollection:
        """Return the facts that answer a question, best first."""
        return await self._run(lambda settings: recall_shown(query, asked, settings))

    async def feedback(self, found: Recollection | str, *, helped: Ids = None, hurt: Ids = None) -> Learned:
        """Report which facts of a recall helped and which hurt: the edges that led to them get stronger or weaker."""
        return await self._run(lambda settings: feedback(found, helped, hurt, settings))

    async def use(self, id: str) -> Use:
        """Return how often feedback reported that a fact helped or hurt."""
        return await self._run(lambda settings: use(id))

    async def why(self, query: str, id: str, **asked: Unpack[Asked]) -> Why:
        """Explain why a fact is returned for a question, or at which stage it is lost and which changes would return it."""
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
        **filters: Unpack[Filters],
    ) -> list[Fact]:
        """List facts by id, or those that pass the filters, newest first. All scopes by default."""
        return await self._run(lambda settings: facts(ids, filters, Page(limit, before, pinned, archived, superseded)))

    async def forget(
        self,
        ids: str | Iterable[str] | None = None,
        *,
        dry_run: bool = False,
        purge: bool = False,
        **filters: Unpack[Filters],
    ) -> Forgotten:
        """Delete facts by id or by filter, with their edges. The result carries a receipt for undo."""
        return await self._run(lambda settings: forget(ids, filters, Manner(dry_run, purge), settings))

    async def undo(self, receipt: Undoable, *, scope: Names = None) -> Restored:
        """Restore what forget deleted."""
        return await self._run(lambda settings: undo(receipt, scope))

    async def update(self, id: str, **said: Unpack[Said]) -> Fact:
        """Change fields of a fact. It keeps its id; the previous version is kept in its history."""
        return await self._run(lambda settings: update(id, said, settings))

    async def history(self, id: str) -> list[Past]:
        """Return the previous versions of a fact, oldest first."""
        return await self._run(lambda settings: history(id))

    async def pin(self, ids: str | Iterable[str]) -> list[Fact]:
        """Exempt facts from decay and archiving; returns those that were not pinned before."""
        return await self._run(lambda settings: pin(ids, pinned=True))

    async def unpin(self, ids: str | Iterable[str]) -> list[Fact]:
        """Remove the pin of facts; returns those that were pinned."""
        return await self._run(lambda settings: pin(ids, pinned=False))

    async def archive(self, ids: str | Iterable[str]) -> list[Fact]:
        """Exclude facts from recall without deleting them; returns those that were not archived before."""
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
        tags: Names = None,
        mode: MergeMode = "reinforce",
    ) -> Edge:
        """Store an edge between two facts of one scope."""
        return await self._run(
            lambda settings: connect(source, target, Drawn(kind, weight, confidence, tags, mode), settings)
        )

    async def edges(
        self,
        *,
        scope: Names = None,
        kind: Names = None,
        ids: str | Iterable[str] | None = None,
        origin: str | None = None,
        limit: int = 10_000,
    ) -> list[Edge]:
        """List stored edges, strongest first."""
        return await self._run(lambda settings: edges(scope, kind, ids, origin, limit))

    async def neighbours(self, id: str, *, limit: int = 100) -> list[Link]:
        """List the facts linked with a fact: stored edges, shared names and the turns of its session."""
        return await self._run(lambda settings: neighbours(id, limit))

    async def portrait(self, id: str, *, limit: int = 100) -> Portrait:
        """Return a fact with its links, descriptions and importance."""
        return await self._run(lambda settings: portrait(id, limit))

    async def graph(
        self,
        ids: str | Iterable[str] | None = None,
        *,
        depth: int = 1,
        scope: Names = None,
        kind: Names = None,
        community: int | None = None,
        where: Mapping[str, object] | None = None,
        limit: int = 10_000,
    ) -> Picture:
        """Return nodes and edges for drawing: all facts or those around some. Above `limit` facts, communities are the nodes."""
        return await self._run(lambda settings: graph(ids, Frame(scope, kind, limit, depth, community, where)))

    @streamed("Exploration")
    def explore(
        self, ids: str | Iterable[str] | None = None, **asked: Unpack[Exploring]
    ) -> Streaming[Exploration, SeedExploration]:
        """Spread energy from facts along their links and return the paths. The async version can be iterated, one seed at a time."""
        return self._stream(lambda settings: explore(ids, asked, settings))

    async def dream(self, *, scope: Names = None, progress: Listen = None) -> Dreamed:
        """Consolidate the facts stored since the last dream: link them and find communities. Safe to interrupt and to repeat."""
        return await self._run(lambda settings: dream(scope, settings), progress)

    async def communities(self, *, scope: Names = None, limit: int = 100) -> list[Community]:
        """List the communities that the last dream found, largest first. recall(community=number) searches one alone."""
        return await self._run(lambda settings: communities(scope, limit))

    async def curate(self, *, dry_run: bool = False, progress: Listen = None) -> Curated:
        """Decay unused edges, archive facts of low retention, recompute importance and communities, and check the store."""
        return await self._run(lambda settings: curate(dry_run, settings), progress)

    async def why_archived(self, id: str) -> str | None:
        """Return why curation archived a fact; None if it did not."""
        return await self._run(lambda settings: why_archived(id))

    async def supersede(self, old: str, new: str) -> Edge:
        """Mark an older fact as replaced by a newer one; recall finds the older one only with an earlier `as_of`."""
        return await self._run(lambda settings: supersede(old, new, settings))

    async def unsupersede(self, old: str, new: str) -> None:
        """Revert supersede: the older fact is valid again."""
        return await self._run(lambda settings: unsupersede(old, new, settings))

    async def review(self, *, everything: bool = False) -> list[Proposal]:
        """List pairs of facts that seem to contradict each other and await a decision."""
        return await self._run(lambda settings: review(everything))

    async def accept(self, old: str, new: str) -> Edge:
        """Decide a proposed pair: the newer fact supersedes the older one."""
        return await self._run(lambda settings: accept(old, new, settings))

    async def dismiss(self, old: str, new: str) -> None:
        """Decide a proposed pair: both facts stay, and the pair is not proposed again."""
        return await self._run(lambda settings: dismiss(old, new))

    async def guide(self, verb: str | None = None) -> str:
        """Return a short page on a verb for agents, or one line on each verb."""
        return guide(verb)

    async def export(self, path: Path, *, progress: Listen = None, **filters: Unpack[Filters]) -> Exported:
        """Write facts and edges to a JSONL file, or to GraphML if the file name ends in .graphml."""
        return await self._run(lambda settings: export(path, filters), progress)

    async def load(self, path: Path, *, progress: Listen = None) -> Loaded:
        """Read a JSONL export. Facts that are already stored are recognised."""
        return await self._run(lambda settings: load(path, settings), progress)

    async def stats(self) -> Stats:
        """Return counts of facts and edges, the embedding model and the search mode."""
        return await self._run(lambda settings: stats())

    async def reembed(self, *, progress: Listen = None) -> int:
        """Compute every vector anew with the current embedder. Open with `reembedding=True` if the store has another model's vectors."""
        return await self._run(reembed, progress)

    async def calibrate(
        self,
        questions: Iterable[str],
        *,
        scope: Names = None,
        false_silence: float = 0.01,
        dry_run: bool = False,
        progress: Listen = None,
    ) -> Calibrated:
        """From 200 or more answerable questions, compute the evidence below which recall abstains; kept in the store."""
        return await self._run(lambda settings: calibrate(questions, scope, false_silence, dry_run, settings), progress)

    async def compare(
        self,
        questions: Iterable[str],
        *,
        b: Configured,
        a: Configured = None,
        k: int | None = None,
        progress: Listen = None,
        **filters: Unpack[Filters],
    ) -> Comparisons:
        """Ask the same questions under two configurations and report the differences."""
        return await self._run(lambda settings: compare(questions, filters, (a, b), k, settings), progress)

    async def shadow_report(self, kind: str | None = None) -> ShadowReport:
        """Summarise the stored shadow recalls."""
        return await self._run(lambda settings: shadow_report(kind, settings))

    async def shadow_clear(self) -> int:
        """Delete all stored shadow recalls and snapshots; returns their number."""
        return await self._run(shadow_clear)

    async def register(self, channel: OwnChannel) -> None:
        """Add a retrieval channel of your own, which every recall asks besides the built-in ones."""
        register((await self._open()).world, channel)

    async def unregister(self, name: str) -> bool:
        """Remove a channel of your own; returns whether it was registered."""
        return unregister((await self._open()).world, name)

    async def configure(self, name: str, value: object) -> object:
        """Store a setting in the memory itself; returns the value as read."""
        return await self._run(lambda settings: configuring.configure(name, value))

    async def reset(self, name: str) -> bool:
        """Remove a setting from the store; returns whether it was there."""
        return await self._run(lambda settings: configuring.reset(name))

    async def backup(self, path: Path) -> None:
        """Copy the open store to a new file."""
        return await self._run(lambda settings: backup(path))

    async def check(self) -> list[str]:
        """Check the integrity of the store; returns the problems found."""
        return await self._run(lambda settings: check())

    async def settings(self) -> Settings:
        """Return all settings in force."""
        return await self._run(configuring.current)

    async def in_session(self, session: str) -> Self:
        """Return the same open memory with another session for its recalls; closing one closes both."""
        other, opened = copy(self), await self._open()
        other._opening = self._opening.holding(opened.in_session(session))
        return other

    async def close(self) -> None:
        """Close the store and the embedder."""
        self._closed = True
        await self._opening.close(Opened.aclose)

    async def _open(self) -> Opened:
        if self._closed:
            raise StoreClosed("This memory was closed.", way_out="Open it again.")
        return await self._opening.opened()

    async def _run(self, verb: Verb[T], listen: Listen = None) -> T:
        opened = await self._open()
        return await arun(opened.informed(verb), opened.world, listen)

    def _stream(self, verb: Verb[T]) -> Streaming[T, Any]:
        async def parts() -> AsyncIterator[Any]:
            opened = await self._open()
            async for part in astream(opened.informed(verb), opened.world):
                yield part

        return Streaming(lambda: self._run(verb), parts)

    async def __aenter__(self) -> Self:
        try:
            await self._open()
        except asyncio.CancelledError:
            await self.close()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
