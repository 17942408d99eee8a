"""AsyncMemory: the verbs of `memory`, awaited. One method a verb, no logic."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from copy import copy
from datetime import datetime
from os import PathLike
from typing import Any, Self, TypeVar, Unpack, overload

from cofire.asks import Asking
from cofire.driving import Opening, arun, astream
from cofire.embedders.base import Embedder
from cofire.errors import StoreClosed
from cofire.guide import guide
from cofire.ingesting.gathering import Messages
from cofire.learned import Use
from cofire.model import Edge, Fact, Link, Past
from cofire.opening import FROM_SETTINGS, Opened, Place
from cofire.own_channels import OwnChannel, register, unregister
from cofire.pictures import Picture
from cofire.reasons import Why
from cofire.recollection import Recollection
from cofire.settings import Settings
from cofire.shadows import Comparisons, ShadowReport
from cofire.spelling import spelled_out
from cofire.spreads import Exploration, SeedExploration
from cofire.stores.base import Store
from cofire.streaming import Streaming, streamed
from cofire.verbs import configuring
from cofire.verbs.asking import Asked, Filters, Names
from cofire.verbs.calibrate import Calibrated, calibrate
from cofire.verbs.communities import Community, communities
from cofire.verbs.comparing import Given as Configured
from cofire.verbs.comparing import compare
from cofire.verbs.connect import Drawn, Portrait, connect, edges, neighbours, portrait
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
from cofire.verbs.remember import Common, Given, Progress, remember
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
        self, given: str | Fact | Mapping[str, Any], *, progress: Listen = None, **common: Unpack[Common]
    ) -> str: ...
    @overload
    async def remember(
        self, given: Iterable[Given], *, progress: Listen = None, **common: Unpack[Common]
    ) -> list[str]: ...
    @spelled_out
    async def remember(self, given: Any, *, progress: Listen = None, **common: Unpack[Common]) -> str | list[str]:
        """Store one fact and return its id, or several and return theirs. The keywords hold for every fact given."""
        return await self._run(lambda settings: remember(given, common, settings), progress)

    @spelled_out
    async def ingest(
        self, given: Messages | Path, *, progress: Listen = None, **keywords: Unpack[Keywords]
    ) -> Ingested:
        """Remember conversations and documents: messages, a file or a folder. What is known already is left as it is."""
        return await self._run(lambda settings: ingest(given, keywords, settings), progress)

    @spelled_out
    async def recall(self, query: str, **asked: Unpack[Asked]) -> Recollection:
        """What memory knows about a question, best first. Without `k`, the setting recall.k (10) holds."""
        return await self._run(lambda settings: recall_shown(query, asked, settings))

    async def feedback(self, found: Recollection | str, *, helped: Ids = None, hurt: Ids = None) -> Learned:
        """Tell which facts of a recall, or of the recall with an id, helped and which hurt: the ways to them grow and shrink."""
        return await self._run(lambda settings: feedback(found, helped, hurt, settings))

    async def use(self, id: str) -> Use:
        """How often a fact helped and hurt, as feedback told."""
        return await self._run(lambda settings: use(id))

    @spelled_out
    async def why(self, query: str, id: str, **asked: Unpack[Asked]) -> Why:
        """Why a fact comes back for a question or where it is lost, and what would bring it back; found by asking again."""
        return await self._run(lambda settings: why(query, id, asked, settings))

    @spelled_out
    async def facts(
        self,
        ids: str | Iterable[str] | None = None,
        *,
        limit: int = 1_000,
        before: str | None = None,
        pinned: bool = False,
        archived: bool = False,
        **filters: Unpack[Filters],
    ) -> list[Fact]:
        """Facts by id, or those that pass the filters, newest first; `before` an id gives the next page. With `pinned` or `archived`
        only such."""
        return await self._run(lambda settings: facts(ids, filters, Page(limit, before, pinned, archived)))

    @spelled_out
    async def forget(
        self,
        ids: str | Iterable[str] | None = None,
        *,
        dry_run: bool = False,
        purge: bool = False,
        **filters: Unpack[Filters],
    ) -> Forgotten:
        """Remove facts by id or by filter; with `dry_run` only tell what would go. `purge` keeps no receipt to undo it by."""
        return await self._run(lambda settings: forget(ids, filters, Manner(dry_run, purge), settings))

    async def undo(self, receipt: Undoable, *, scope: Names = None) -> Restored:
        """Bring back what was forgotten: by what `forget` returned, or by the id or the path of its receipt; with `scope` only there."""
        return await self._run(lambda settings: undo(receipt, scope))

    @spelled_out
    async def update(self, id: str, **said: Unpack[Said]) -> Fact:
        """Change a fact: what is given holds from now on, None takes a value away. Its id stays, the past is its history."""
        return await self._run(lambda settings: update(id, said, settings))

    async def history(self, id: str) -> list[Past]:
        """What a fact said before it was changed, the oldest first."""
        return await self._run(lambda settings: history(id))

    async def pin(self, ids: str | Iterable[str]) -> list[Fact]:
        """Let facts never fade nor be archived by themselves; returns those that were not pinned yet."""
        return await self._run(lambda settings: pin(ids, pinned=True))

    async def unpin(self, ids: str | Iterable[str]) -> list[Fact]:
        """Let facts fade again; returns those that were pinned."""
        return await self._run(lambda settings: pin(ids, pinned=False))

    async def archive(self, ids: str | Iterable[str]) -> list[Fact]:
        """Put facts out of recall without losing them; returns those that were not yet."""
        return await self._run(lambda settings: archive(ids, archived=True))

    async def restore(self, ids: str | Iterable[str]) -> list[Fact]:
        """Bring archived facts back into recall; returns those that were archived."""
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
        mode: str = "reinforce",
    ) -> Edge:
        """Make an edge between two facts of one scope; `mode` says what to do if it is there: reinforce, update, skip or error."""
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
        """Stored edges, the strongest first."""
        return await self._run(lambda settings: edges(scope, kind, ids, origin, limit))

    async def neighbours(self, id: str, *, limit: int = 100) -> list[Link]:
        """All that a fact is linked with, of every kind, with what each link goes through."""
        return await self._run(lambda settings: neighbours(id, limit))

    async def portrait(self, id: str, *, limit: int = 100) -> Portrait:
        """A fact with its links, its descriptions and its importance."""
        return await self._run(lambda settings: portrait(id, limit))

    async def graph(
        self,
        ids: str | Iterable[str] | None = None,
        *,
        depth: int = 1,
        scope: Names = None,
        kind: Names = None,
        community: int | None = None,
        limit: int = 10_000,
    ) -> Picture:
        """Memory as nodes and edges for a picture, or around some facts; above `limit` facts, its communities instead."""
        return await self._run(lambda settings: graph(ids, Frame(scope, kind, limit, depth, community)))

    @streamed("Exploration")
    @spelled_out
    def explore(
        self, ids: str | Iterable[str] | None = None, **asked: Unpack[Exploring]
    ) -> Streaming[Exploration, SeedExploration]:
        """Follow energy outward from facts, or from those that a `query` finds; the async one can be iterated, seed by seed."""
        return self._stream(lambda settings: explore(ids, asked, settings))

    async def dream(self, *, scope: Names = None, progress: Listen = None) -> Dreamed:
        """Consolidate what waits in the inbox; it can be stopped and run again."""
        return await self._run(lambda settings: dream(scope, settings), progress)

    async def communities(self, *, scope: Names = None, limit: int = 100) -> list[Community]:
        """The communities that the last dream found, the largest first; recall(community=number) asks one alone."""
        return await self._run(lambda settings: communities(scope, limit))

    async def curate(self, *, dry_run: bool = False, progress: Listen = None) -> Curated:
        """Let unused edges fade, archive by retention and budget, rank and group anew, and check; `dry_run` only tells what would be."""
        return await self._run(lambda settings: curate(dry_run, settings), progress)

    async def why_archived(self, id: str) -> str | None:
        """Why curation archived a fact; None where it did not."""
        return await self._run(lambda settings: why_archived(id))

    async def supersede(self, old: str, new: str) -> Edge:
        """Let a newer fact take the place of an older one, which recall then finds only with `as_of` before."""
        return await self._run(lambda settings: supersede(old, new, settings))

    async def unsupersede(self, old: str, new: str) -> None:
        """Take a supersede back: the older fact is valid as long as it was."""
        return await self._run(lambda settings: unsupersede(old, new, settings))

    async def review(self, *, everything: bool = False) -> list[Proposal]:
        """Pairs of facts that seem to disagree and wait for a decision; with `everything` also those decided."""
        return await self._run(lambda settings: review(everything))

    async def accept(self, old: str, new: str) -> Edge:
        """Decide a proposed pair: the newer fact supersedes the older."""
        return await self._run(lambda settings: accept(old, new, settings))

    async def dismiss(self, old: str, new: str) -> None:
        """Decide a proposed pair: both facts stay, and the pair is not proposed again."""
        return await self._run(lambda settings: dismiss(old, new))

    async def guide(self, verb: str | None = None) -> str:
        """A short page on a verb for agents, or one line on each."""
        return guide(verb)

    @spelled_out
    async def export(self, path: Path, *, progress: Listen = None, **filters: Unpack[Filters]) -> Exported:
        """Write facts and edges to JSONL, or to GraphML if the name of the file ends so."""
        return await self._run(lambda settings: export(path, filters), progress)

    async def load(self, path: Path, *, progress: Listen = None) -> Loaded:
        """Read a JSONL export; what is known already is recognised."""
        return await self._run(lambda settings: load(path, settings), progress)

    async def stats(self) -> Stats:
        """What memory holds and how it works just now."""
        return await self._run(lambda settings: stats())

    async def reembed(self, *, progress: Listen = None) -> int:
        """Give every fact a vector of the embedder at hand. Open with `reembedding=True` when the store holds another's."""
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
        """From 200 or more questions that memory can answer, the evidence below which it is silent; kept in the store."""
        return await self._run(lambda settings: calibrate(questions, scope, false_silence, dry_run, settings), progress)

    @spelled_out
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
        """Ask the same questions under two configurations, each a preset or settings, and tell what changes; `a` is as it is now."""
        return await self._run(lambda settings: compare(questions, filters, (a, b), k, settings), progress)

    async def shadow_report(self, kind: str | None = None) -> ShadowReport:
        """What the shadow recalls that are kept came to: all, or those of the kind recall or assist."""
        return await self._run(lambda settings: shadow_report(kind, settings))

    async def shadow_clear(self) -> int:
        """Remove all that shadow recalls and snapshots have kept; tells how many there were."""
        return await self._run(shadow_clear)

    async def register(self, channel: OwnChannel) -> None:
        """Add a way of finding facts, which every recall asks beside those built in."""
        register((await self._open()).world, channel)

    async def unregister(self, name: str) -> bool:
        """Take a channel of one's own out; tells whether it was there."""
        return unregister((await self._open()).world, name)

    async def configure(self, name: str, value: object) -> object:
        """Keep a setting in the store itself; returns the value as understood."""
        return await self._run(lambda settings: configuring.configure(name, value))

    async def reset(self, name: str) -> bool:
        """Take a setting out of the store; tells whether it was there."""
        return await self._run(lambda settings: configuring.reset(name))

    async def backup(self, path: Path) -> None:
        """Copy the live store to a new file."""
        return await self._run(lambda settings: backup(path))

    async def check(self) -> list[str]:
        """What is wrong with the store, in words; empty when all is well."""
        return await self._run(lambda settings: check())

    async def settings(self) -> Settings:
        """All settings as they hold here and now."""
        return await self._run(configuring.current)

    async def in_session(self, session: str) -> Self:
        """The same open memory, with the recalls of another session; when one of the two is closed, both are."""
        other, opened = copy(self), await self._open()
        other._opening = self._opening.holding(opened.in_session(session))
        return other

    async def close(self) -> None:
        """Let go of the store and the embedder."""
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
