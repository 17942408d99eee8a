"""Prompt text, readable reports and JSON of recall results; pure functions."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol

from cofire.activation_paths import MAX_RECORDED_FACTS, ActivationHop, ActivationRound, hop_json, step_json
from cofire.model import Edge, Fact, Link
from cofire.text.prompt_text import CLOSING_DELIMITER, OPENING_DELIMITER, delimit_entries, estimate_tokens

# Facts of a round, and links of a pass, that the replay shows: the strongest.


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
    """The facts as a fenced list; empty when none fits. A fact can never close the fence by itself."""
    entries = format_prompt_entries(facts, budget)
    return delimit_entries(entries) if entries else ""


def format_prompt_entries(facts: Sequence[Fact], budget: int | None) -> list[str]:
    """The numbered entries of the list, as many as fit between the delimiters within the budget."""
    entries = [_prompt_entry(number, fact) for number, fact in enumerate(facts, start=1)]
    if budget is None:
        return entries
    delimiters = estimate_tokens(f"{OPENING_DELIMITER}\n{CLOSING_DELIMITER}")
    return entries[: count_fitting(entries, budget - delimiters)]


def count_fitting(texts: Iterable[str], budget: int) -> int:
    """How many of the texts, from the first, fill at most this many tokens.

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


def format_report(found: _RecollectionView) -> str:
    """Every stage of a recall as lines of text."""
    lines = [f"question: {found.question}", f"scopes: {', '.join(found.scopes)}"]
    lines += [f"recall: {found.id}"] if found.id else []
    lines += [_plan_line(found.plan)] if found.plan else []
    lines += [_channel_line(channel) for channel in found.channels]
    lines += [_judgement_line(found.judgement)] if found.judgement else []
    lines += [] if found.known else [f"nothing known: {found.reason}"]
    lines += ["otherwise these would have come back:"] if found.guesses else []
    for place, hit in enumerate(found.hits or found.guesses, start=1):
        lines += format_hit_lines(place, hit, found.texts)
    return "\n".join(lines)


def format_hit_lines(place: int, hit: _HitView, texts: Mapping[str, str]) -> list[str]:
    """A hit with its arithmetic, which adds up to the score, and the way that led to it."""
    lines = [f"{place}. {hit.score:.3f} {hit.fact.id} {shorten_text(hit.fact.text)}", f"   {_format_arithmetic(hit)}"]
    if len(hit.parts) > 1:
        lines.append(f"   {_format_features(hit)}")
    return lines + [f"   {line}" for line in (*_path_lines(hit, texts), *_bridge_lines(hit, texts))]


def round_parts(parts: Mapping[str, float], total: float, digits: int) -> dict[str, float]:
    """Parts rounded so that they add up to the rounded total. Those whose rounding errs most are rounded the other way.

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
    """What each part gives to the score, rounded for display: every channel that ranks the fact and every other part that counts."""
    rounded = round_parts({name: heard.gives for name, heard in hit.channels.items()}, hit.score, digits)
    return {name: value for name, value in rounded.items() if value or hit.channels[name].rank is not None}


def recollection_json(found: _RecollectionView) -> dict[str, Any]:
    """The recall as plain values: the stable shape of `--json`."""
    return {
        "id": found.id or None,
        "question": found.question,
        "known": found.known,
        "reason": found.reason,
        "scopes": list(found.scopes),
        "plan": _plan_json(found.plan) if found.plan else None,
        "channels": [
            {"name": one.name, "status": one.status, "heard": one.heard, "note": one.note} for one in found.channels
        ],
        "judgement": _judgement_json(found.judgement) if found.judgement else None,
        "hits": [hit_json(hit) for hit in found.hits],
        "guesses": [hit_json(hit) for hit in found.guesses],
        "texts": [{"id": id, "text": text} for id, text in found.texts.items()],
        "candidates": len(found.ranking.ids) if found.ranking else 0,
        "spread": _spread_json(found.ranking) if found.ranking else None,
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
    """A hit as plain values: its fact, and why it came back."""
    return {
        **fact_json(hit.fact),
        "score": hit.score,
        "channels": {
            name: {"rank": heard.rank, "score": heard.score, "gives": heard.gives}
            for name, heard in hit.channels.items()
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
    """JSON has no infinity: a rule that asked for no evidence has none to show."""
    return {
        "known": judgement.known,
        "evidence": judgement.evidence if math.isfinite(judgement.evidence) else None,
        "threshold": judgement.threshold if math.isfinite(judgement.threshold) else None,
        "reason": judgement.reason,
    }


def _spread_json(ranking: _RankingView) -> dict[str, Any]:
    """All that is needed to replay how activation spread."""
    return {
        "passes": [
            {
                "seeds": [{"id": id, "activation": activation} for id, activation in seeds.items()],
                "links": [hop_json(hop) for hop in _strongest_hops(hops.values())],
            }
            for seeds, hops in zip(ranking.seeds, ranking.hops, strict=True)
        ],
        "rounds": [{"round": one.number, "facts": _steps_json(one)} for one in ranking.rounds],
    }


def _steps_json(round: ActivationRound) -> list[dict[str, Any]]:
    """Each fact once: a seed that is reached as well stands as the seed it was."""
    steps = {step.id: step for step in reversed(round.steps)}
    shown = [steps[id] for id in dict.fromkeys(step.id for step in round.steps)][:MAX_RECORDED_FACTS]
    return [step_json(step) for step in shown]


def _strongest_hops(hops: Iterable[ActivationHop]) -> list[ActivationHop]:
    return sorted(hops, key=lambda hop: (-hop.energy, hop.target))[:MAX_RECORDED_FACTS]


def _prompt_entry(number: int, fact: Fact) -> str:
    """A numbered fact with its date (when it happened, otherwise when it was stored), speaker, subject and source. The lines of a
    longer text keep their order and indentation under the number, so that only a new entry begins at the left margin."""
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
    return f"{channel.name}: {channel.status}, {channel.heard} heard{note}"


def _plan_line(plan: _PlanView) -> str:
    mode, strategy = f"{plan.mode} ({plan.mode_reason})", f"{plan.strategy} ({plan.strategy_reason})"
    return f"plan: mode {mode}, strategy {strategy}, dynamics {plan.dynamics or 'none'}, fusion {plan.fusion}"


def _judgement_line(judgement: _VerdictView) -> str:
    if not math.isfinite(judgement.evidence):
        return "judgement: known, no evidence was asked for"
    verdict, against = ("known", "reaches") if judgement.known else ("nothing known", "is below")
    return f"judgement: {verdict}, evidence {judgement.evidence:.3f} {against} {judgement.threshold:.3f}"


def _format_arithmetic(hit: _HitView) -> str:
    parts = [_format_term(name, hit.channels[name], gives) for name, gives in round_shown_parts(hit, 3).items()]
    return " + ".join(parts) + f" = {hit.score:.3f}"


def _format_term(name: str, heard: _ChannelScoreView, gives: float) -> str:
    rank = f" #{heard.rank} {heard.score:+.3f}" if heard.rank is not None else ""
    return f"{name}{rank} gives {gives:+.3f}"


def _format_features(hit: _HitView) -> str:
    """What activation gives, by feature; the sum is the value that the line above shows."""
    total = round_shown_parts(hit, 3).get("activation", 0.0)
    terms = " + ".join(f"{name} {value:+.3f}" for name, value in round_parts(hit.parts, total, 3).items())
    return f"activation: {terms} = {total:+.3f}"


def _path_lines(hit: _HitView, texts: Mapping[str, str]) -> list[str]:
    """Hop by hop, from the fact it began with."""
    if not hit.hops:
        return []
    lines = [f"path, weakest conf={hit.weakest:.2f}:", f"  {_format_path_fact(hit.hops[0].source, texts)}"]
    for hop in hit.hops:
        lines += [
            f"    → {_format_hop(hop)}",
            f"  {_format_path_fact(hop.target, {hit.fact.id: hit.fact.text, **texts})}",
        ]
    return lines


def _bridge_lines(hit: _HitView, texts: Mapping[str, str]) -> list[str]:
    """The two facts that a bridge connects, each with the link that leads from there."""
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
    weight = "unsaid" if hop.weight is None else f"{hop.weight:.2f}"
    confidence = 1.0 if hop.confidence is None else hop.confidence
    return f"{hop.kind}{via}, weight {weight}, conf={confidence:.2f}"


def _format_path_fact(id: str, texts: Mapping[str, str]) -> str:
    return f"{id} {shorten_text(texts[id], 80)}" if id in texts else id


def format_count(number: int, thing: str, plural: str = "") -> str:
    """A number with its noun.

    >>> format_count(1, "fact"), format_count(1204, "fact"), format_count(2, "community", "communities")
    ('1 fact', '1,204 facts', '2 communities')
    """
    return f"{number:,} {thing}" if number == 1 else f"{number:,} {plural or thing + 's'}"


def shorten_text(text: str, width: int = 100) -> str:
    """A text on one line, of at most so many letters.

    >>> shorten_text("tea\\n at  four", 6)
    'tea a…'
    """
    flat = flatten_text(text)
    return flat if len(flat) <= width else flat[: width - 1] + "…"


def flatten_text(text: str) -> str:
    """A text on one line, with one space between words."""
    return " ".join(text.split())


def _iso_time(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment else None
