"""Recall results as prompt text, x-ray report and JSON; pure functions."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol

from cofire.activation_paths import MAX_RECORDED_FACTS, ActivationHop, ActivationRound, hop_json, step_json
from cofire.model import Edge, Fact, Link
from cofire.text.prompt_text import CLOSING_DELIMITER, OPENING_DELIMITER, delimit_entries, estimate_tokens


class _ChannelScoreView(Protocol):
    @property
    def rank(self) -> int | None: ...
    @property
    def score(self) -> float: ...
    @property
    def gives(self) -> float: ...


class _HitView(Protocol):
    @property
    def fact(self) -> Fact: ...
    @property
    def score(self) -> float: ...
    @property
    def channels(self) -> Mapping[str, _ChannelScoreView]: ...
    @property
    def hops(self) -> tuple[ActivationHop, ...]: ...
    @property
    def parts(self) -> Mapping[str, float]: ...
    @property
    def path(self) -> tuple[str, ...]: ...
    @property
    def confidences(self) -> tuple[float, ...]: ...
    @property
    def weakest(self) -> float | None: ...
    @property
    def bridge(self) -> tuple[ActivationHop, ...]: ...


class _ChannelReportView(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def status(self) -> str: ...
    @property
    def heard(self) -> int: ...
    @property
    def note(self) -> str: ...


class _PlanView(Protocol):
    @property
    def mode(self) -> str: ...
    @property
    def mode_reason(self) -> str: ...
    @property
    def strategy(self) -> str: ...
    @property
    def strategy_reason(self) -> str: ...
    @property
    def dynamics(self) -> str | None: ...
    @property
    def fusion(self) -> str: ...


class _VerdictView(Protocol):
    @property
    def known(self) -> bool: ...
    @property
    def evidence(self) -> float: ...
    @property
    def threshold(self) -> float: ...
    @property
    def reason(self) -> str: ...


class _RankingView(Protocol):
    @property
    def ids(self) -> Sequence[str]: ...
    @property
    def hops(self) -> Sequence[Mapping[str, ActivationHop]]: ...
    @property
    def seeds(self) -> Sequence[Mapping[str, float]]: ...
    @property
    def rounds(self) -> Sequence[ActivationRound]: ...


class _RecollectionView(Protocol):
    @property
    def id(self) -> str: ...
    @property
    def question(self) -> str: ...
    @property
    def known(self) -> bool: ...
    @property
    def reason(self) -> str: ...
    @property
    def scopes(self) -> tuple[str, ...]: ...
    @property
    def hits(self) -> Sequence[_HitView]: ...
    @property
    def channels(self) -> Sequence[_ChannelReportView]: ...
    @property
    def guesses(self) -> Sequence[_HitView]: ...
    @property
    def plan(self) -> _PlanView | None: ...
    @property
    def judgement(self) -> _VerdictView | None: ...
    @property
    def ranking(self) -> _RankingView | None: ...
    @property
    def texts(self) -> Mapping[str, str]: ...


def format_prompt(facts: Sequence[Fact], budget: int | None) -> str:
    """The facts as a delimited list; empty if none fits. A fact cannot close the delimiter."""
    entries = format_prompt_entries(facts, budget)
    return delimit_entries(entries) if entries else ""


def format_prompt_entries(facts: Sequence[Fact], budget: int | None) -> list[str]:
    """The numbered entries that fit, with the delimiters, into the budget of tokens."""
    entries = [_prompt_entry(number, fact) for number, fact in enumerate(facts, start=1)]
    if budget is None:
        return entries
    delimiters = estimate_tokens(f"{OPENING_DELIMITER}\n{CLOSING_DELIMITER}")
    return entries[: count_fitting(entries, budget - delimiters)]


def count_fitting(texts: Iterable[str], budget: int) -> int:
    """The number of leading texts that fit into a budget of tokens.

    >>> count_fitting(["12345678", "1234", "1234"], budget=5)
    2
    """
    fitting = 0
    for text in texts:
        budget -= estimate_tokens(text + "\n")
        if budget < 0:
            break
        fitting += 1
    return fitting


def format_report(recollection: _RecollectionView) -> str:
    """The x-ray: every stage of a recall as lines of text."""
    lines = [f"question: {recollection.question}", f"scopes: {', '.join(recollection.scopes)}"]
    if recollection.id:
        lines.append(f"recall: {recollection.id}")
    if recollection.plan:
        lines.append(_plan_line(recollection.plan))
    lines += [_channel_line(channel) for channel in recollection.channels]
    if recollection.judgement:
        lines.append(_judgement_line(recollection.judgement))
    if not recollection.known:
        lines.append(f"reason: {recollection.reason}")
    if recollection.guesses:
        lines.append("best candidates, not returned:")
    for place, hit in enumerate(recollection.hits or recollection.guesses, start=1):
        lines += format_hit_lines(place, hit, recollection.texts)
    return "\n".join(lines)


def format_hit_lines(place: int, hit: _HitView, texts: Mapping[str, str]) -> list[str]:
    """A hit with the parts of its score, which sum to it, and its path."""
    lines = [f"{place}. {hit.score:.3f} {hit.fact.id} {shorten_text(hit.fact.text)}", f"   {_format_arithmetic(hit)}"]
    if len(hit.parts) > 1:
        lines.append(f"   {_format_features(hit)}")
    return lines + [f"   {line}" for line in (*_path_lines(hit, texts), *_bridge_lines(hit, texts))]


def round_parts(parts: Mapping[str, float], total: float, digits: int) -> dict[str, float]:
    """Round parts so that they sum to the rounded total. The parts with the largest rounding errors are adjusted.

    >>> round_parts({"semantic": 0.334, "keyword": 0.334, "prior": 0.334}, 1.002, 2)
    {'semantic': 0.34, 'keyword': 0.33, 'prior': 0.33}
    """
    scale = 10**digits
    units = {name: round(value * scale) for name, value in parts.items()}
    missing = round(total * scale) - sum(units.values())
    step = 1 if missing > 0 else -1
    by_error = sorted(parts, key=lambda name: step * (units[name] - parts[name] * scale))
    for name in by_error[: abs(missing)]:
        units[name] += step
    return {name: count / scale for name, count in units.items()}


def round_shown_parts(hit: _HitView, digits: int) -> dict[str, float]:
    """The contributions to the score, rounded: channels that rank the fact, and other non-zero parts."""
    rounded = round_parts({name: score.gives for name, score in hit.channels.items()}, hit.score, digits)
    return {name: value for name, value in rounded.items() if value or hit.channels[name].rank is not None}


def recollection_json(recollection: _RecollectionView) -> dict[str, Any]:
    """The recall as plain values: the stable format of `--json`."""
    return {
        "id": recollection.id or None,
        "question": recollection.question,
        "known": recollection.known,
        "reason": recollection.reason,
        "scopes": list(recollection.scopes),
        "plan": _plan_json(recollection.plan) if recollection.plan else None,
        "channels": [
            {"name": channel.name, "status": channel.status, "heard": channel.heard, "note": channel.note}
            for channel in recollection.channels
        ],
        "judgement": _judgement_json(recollection.judgement) if recollection.judgement else None,
        "hits": [hit_json(hit) for hit in recollection.hits],
        "guesses": [hit_json(hit) for hit in recollection.guesses],
        "texts": [{"id": id, "text": text} for id, text in recollection.texts.items()],
        "candidates": len(recollection.ranking.ids) if recollection.ranking else 0,
        "spread": _spread_json(recollection.ranking) if recollection.ranking else None,
    }


def fact_json(fact: Fact) -> dict[str, Any]:
    """A fact as plain values."""
    return {
        "id": fact.id,
        "text": fact.text,
        "subject": fact.subject,
        "category": fact.category,
        "tags": list(fact.tags),
        "scope": fact.scope,
        "session": fact.session,
        "position": fact.position,
        "speaker": fact.speaker,
        "source": fact.source,
        "at": _iso_time(fact.at),
        "stored_at": _iso_time(fact.stored_at),
        "valid_from": _iso_time(fact.valid_from),
        "valid_until": _iso_time(fact.valid_until),
        "expires": _iso_time(fact.expires),
        "reinforced": fact.reinforced,
        "reinforced_at": _iso_time(fact.reinforced_at),
        "pinned": fact.pinned,
        "archived": fact.archived,
        "superseded_by": list(fact.superseded_by),
        "metadata": dict(fact.metadata),
    }


def edge_json(edge: Edge) -> dict[str, Any]:
    """An edge as plain values."""
    return {
        "source": edge.source,
        "target": edge.target,
        "kind": edge.kind,
        "weight": edge.weight,
        "confidence": edge.confidence,
        "tags": list(edge.tags),
        "origin": edge.origin,
        "co_access_count": edge.co_access_count,
        "strengthened": _iso_time(edge.strengthened),
    }


def link_json(link: Link) -> dict[str, Any]:
    """A link as plain values."""
    return {**edge_json(link), "via": link.via}


def hit_json(hit: _HitView) -> dict[str, Any]:
    """A hit as plain values: its fact and the parts of its score."""
    return {
        **fact_json(hit.fact),
        "score": hit.score,
        "channels": {
            name: {"rank": score.rank, "score": score.score, "gives": score.gives}
            for name, score in hit.channels.items()
        },
        "parts": dict(hit.parts),
        "path": list(hit.path),
        "confidences": list(hit.confidences),
        "weakest": hit.weakest,
        "hops": [hop_json(hop) for hop in hit.hops],
        "bridge": [hop_json(hop) for hop in hit.bridge],
    }


def _plan_json(plan: _PlanView) -> dict[str, Any]:
    return {
        "mode": plan.mode,
        "mode_reason": plan.mode_reason,
        "strategy": plan.strategy,
        "strategy_reason": plan.strategy_reason,
        "dynamics": plan.dynamics,
        "fusion": plan.fusion,
    }


def _judgement_json(judgement: _VerdictView) -> dict[str, Any]:
    """JSON has no infinity: without an evidence rule, both values are null."""
    return {
        "known": judgement.known,
        "evidence": judgement.evidence if math.isfinite(judgement.evidence) else None,
        "threshold": judgement.threshold if math.isfinite(judgement.threshold) else None,
        "reason": judgement.reason,
    }


def _spread_json(ranking: _RankingView) -> dict[str, Any]:
    """The passes and rounds of activation, for a replay."""
    return {
        "passes": [
            {
                "seeds": [{"id": id, "activation": activation} for id, activation in seeds.items()],
                "links": [hop_json(hop) for hop in _strongest_hops(hops.values())],
            }
            for seeds, hops in zip(ranking.seeds, ranking.hops, strict=True)
        ],
        "rounds": [{"round": round.number, "facts": _steps_json(round)} for round in ranking.rounds],
    }


def _steps_json(round: ActivationRound) -> list[dict[str, Any]]:
    """Each fact once; a seed that is reached again is listed as a seed."""
    steps = {step.id: step for step in reversed(round.steps)}
    shown = [steps[id] for id in dict.fromkeys(step.id for step in round.steps)][:MAX_RECORDED_FACTS]
    return [step_json(step) for step in shown]


def _strongest_hops(hops: Iterable[ActivationHop]) -> list[ActivationHop]:
    return sorted(hops, key=lambda hop: (-hop.energy, hop.target))[:MAX_RECORDED_FACTS]


def _prompt_entry(number: int, fact: Fact) -> str:
    """A numbered fact with its date (of the event, else of storing), speaker, subject and source.

    Further lines of a text are indented below the number, so that only a new entry begins at the left margin.
    """
    when = fact.time.date().isoformat() if fact.time else None
    marks = ", ".join(flatten_text(mark) for mark in (when, fact.speaker, fact.subject, fact.source) if mark)
    label = f"[{number}]"
    lines = fact.text.strip("\r\n").splitlines() or [""]
    if len(lines) == 1:
        return " ".join(part for part in (label, f"({marks})" if marks else "", lines[0].strip()) if part)
    margin = " " * (len(label) + 1)
    body = [(margin + line).rstrip() for line in lines]
    if marks:
        return "\n".join([f"{label} ({marks})", *body])
    return "\n".join([f"{label} {lines[0]}".rstrip(), *body[1:]])


def _channel_line(channel: _ChannelReportView) -> str:
    note = f" ({channel.note})" if channel.note else ""
    return f"{channel.name}: {channel.status}, {format_count(channel.heard, 'candidate')}{note}"


def _plan_line(plan: _PlanView) -> str:
    mode, strategy = f"{plan.mode} ({plan.mode_reason})", f"{plan.strategy} ({plan.strategy_reason})"
    return f"plan: mode {mode}, strategy {strategy}, dynamics {plan.dynamics or 'none'}, fusion {plan.fusion}"


def _judgement_line(judgement: _VerdictView) -> str:
    if not math.isfinite(judgement.evidence):
        return "abstention: no, no evidence is required"
    verdict, comparison = ("no", "reaches") if judgement.known else ("yes", "is below")
    return (
        f"abstention: {verdict}, evidence {judgement.evidence:.3f} {comparison} the threshold {judgement.threshold:.3f}"
    )


def _format_arithmetic(hit: _HitView) -> str:
    parts = [_format_term(name, hit.channels[name], gives) for name, gives in round_shown_parts(hit, 3).items()]
    return " + ".join(parts) + f" = {hit.score:.3f}"


def _format_term(name: str, score: _ChannelScoreView, gives: float) -> str:
    rank = f" #{score.rank} {score.score:+.3f}" if score.rank is not None else ""
    return f"{name}{rank} gives {gives:+.3f}"


def _format_features(hit: _HitView) -> str:
    """The contribution of activation by feature."""
    total = round_shown_parts(hit, 3).get("activation", 0.0)
    terms = " + ".join(f"{name} {value:+.3f}" for name, value in round_parts(hit.parts, total, 3).items())
    return f"activation: {terms} = {total:+.3f}"


def _path_lines(hit: _HitView, texts: Mapping[str, str]) -> list[str]:
    """The path hop by hop, from its seed."""
    if not hit.hops:
        return []
    lines = [f"path, weakest confidence {hit.weakest:.2f}:", f"  {_format_path_fact(hit.hops[0].source, texts)}"]
    for hop in hit.hops:
        lines += [
            f"    → {_format_hop(hop)}",
            f"  {_format_path_fact(hop.target, {hit.fact.id: hit.fact.text, **texts})}",
        ]
    return lines


def _bridge_lines(hit: _HitView, texts: Mapping[str, str]) -> list[str]:
    """The two facts that a hit bridges, each with its link to the hit."""
    if not hit.bridge:
        return []
    return [
        "bridge between",
        *(f"  {_format_path_fact(hop.source, texts)} → {_format_link(hop)}" for hop in hit.bridge),
    ]


def _format_hop(hop: ActivationHop) -> str:
    return f"{_format_link(hop)}, energy {hop.energy:.3f}"


def _format_link(hop: ActivationHop) -> str:
    via = f" via {hop.via}" if hop.via else ""
    weight = "none" if hop.weight is None else f"{hop.weight:.2f}"
    confidence = 1.0 if hop.confidence is None else hop.confidence
    return f"{hop.kind}{via}, weight {weight}, confidence {confidence:.2f}"


def _format_path_fact(id: str, texts: Mapping[str, str]) -> str:
    return f"{id} {shorten_text(texts[id], 80)}" if id in texts else id


def format_count(number: int, thing: str, plural: str = "") -> str:
    """A number with its noun.

    >>> format_count(1, "fact"), format_count(1204, "fact"), format_count(2, "community", "communities")
    ('1 fact', '1,204 facts', '2 communities')
    """
    return f"{number:,} {thing if number == 1 else plural or f'{thing}s'}"


def shorten_text(text: str, width: int = 100) -> str:
    """A text on one line, cut to a maximum length.

    >>> shorten_text("tea\\n at  four", 6)
    'tea a…'
    """
    flat = flatten_text(text)
    return flat if len(flat) <= width else flat[: width - 1] + "…"


def flatten_text(text: str) -> str:
    """A text on one line, with single spaces between words."""
    return " ".join(text.split())


def _iso_time(time: datetime | None) -> str | None:
    return time.isoformat() if time else None
