"""The commands `forget`, `undo`, `supersede` and `review`."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from cofire import explain
from cofire.cli.json_shapes import ForgetResultLike, forget_json, review_pair_json, undo_json
from cofire.cli.layout import show_fact_summary, show_label_values
from cofire.cli.options import GlobalOptions, SharedFilterOptions, expand_options, handle_group_options
from cofire.cli.terminal import show_json, show_text, stderr_console, styled_text
from cofire.errors import InvalidInput
from cofire.explain import format_count
from cofire.model import CascadeCounts, Fact

PREVIEW_LIMIT = 10

ForgottenIdsArgument = Annotated[
    list[str] | None, typer.Argument(metavar="ID", help="Ids as remember, recall and list print them.")
]
DryRunOption = Annotated[bool, typer.Option("--dry-run", help="Only show what would go.")]
PurgeOption = Annotated[bool, typer.Option("--purge", help="Keep no receipt: it cannot be undone.")]
ReceiptArgument = Annotated[str, typer.Argument(metavar="RECEIPT", help="The id or the path that forget told.")]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]


def forget(
    *,
    ids: ForgottenIdsArgument = None,
    dry_run: DryRunOption = False,
    purge: PurgeOption = False,
    yes: YesOption = False,
    filters: SharedFilterOptions,
    call: GlobalOptions,
) -> None:
    """Forget facts for good, by id or by filter.

    On a terminal you see them and are asked first. Where nobody can be asked, ids are forgotten at once, and filters
    need --yes. What is forgotten leaves the store at once and wholly; a receipt beside it can bring it back for a while.

    cofire forget --session deploy-42 --dry-run
    """
    if ids and filters.keywords:
        raise InvalidInput("Both ids and filters were given.", way_out="Give the ids alone, or filters alone.")
    with call.shelf() as memory:
        told = memory.forget(ids or None, dry_run=True, **filters.keywords)
        if not dry_run and told.facts and _confirm_forget(list(told.facts), by_filter=not ids, yes=yes):
            told = memory.forget(told.ids, purge=purge)
    _show_forget_result(call, told, dry_run=dry_run)


def undo(*, receipt: ReceiptArgument, call: GlobalOptions) -> None:
    """Bring back what was forgotten, by its receipt.

    What has no place any more, such as an edge to a fact that is gone too, is told and left out.
    """
    with call.shelf() as memory:
        back = memory.undo(receipt)
    if call.as_json:
        return show_json(undo_json(back))
    show_text(f"Brought back {format_count(len(back.facts), 'fact')} and {format_count(back.edges, 'edge')}.")
    for one in back.skipped:
        show_text(styled_text(f"not the {one.what} {one.id}: {one.why}", "dim"), indent=2)
    return None


def _confirm_forget(doomed: list[Fact], *, by_filter: bool, yes: bool) -> bool:
    if yes:
        return True
    if sys.stdin is not None and sys.stdin.isatty():
        _show_preview(doomed)
        return typer.confirm(f"Forget {_format_fact_count(doomed)} for good?", err=True)
    if by_filter:
        raise InvalidInput(
            f"{format_count(len(doomed), 'fact')} would be forgotten, and nobody can be asked.",
            way_out="Look at them with --dry-run, then say --yes.",
        )
    return True


def _show_forget_result(call: GlobalOptions, told: ForgetResultLike, *, dry_run: bool) -> None:
    if call.as_json:
        return show_json(forget_json(told, dry_run=dry_run))
    if dry_run:
        for fact in told.facts:
            show_fact_summary(fact)
        show_text(f"{format_count(len(told.facts), 'fact')} would be forgotten.")
        return show_label_values(_format_radius(told.radius), indent=2) if told.facts else None
    gone = bool(told.facts) and not told.dry_run
    show_text(f"Forgot {format_count(len(told.facts), 'fact')}." if gone else "Nothing was forgotten.")
    if told.receipt is not None:
        show_text(f"Until {told.receipt.expires:%Y-%m-%d} it comes back with: cofire undo {told.receipt.id}")
    return None


def _format_radius(radius: CascadeCounts) -> dict[str, str]:
    """All that goes with the facts."""
    rows = {
        "edges": radius.edges,
        "mentions": radius.mentions,
        "subjects": radius.subjects,
        "vectors": radius.vectors,
        "index entries": radius.words,
        "descriptions": radius.descriptions,
        "described by it": len(radius.cited),
    }
    return {label: f"{number:,}" for label, number in rows.items()}


def _show_preview(doomed: list[Fact]) -> None:
    """What the question is about, beside it and not in the answer."""
    console = stderr_console()
    for fact in doomed[:PREVIEW_LIMIT]:
        show_fact_summary(fact, console=console)
    if len(doomed) > PREVIEW_LIMIT:
        show_text(f"… and {len(doomed) - PREVIEW_LIMIT:,} more", console=console)


def _format_fact_count(doomed: list[Fact]) -> str:
    return "this fact" if len(doomed) == 1 else f"these {len(doomed):,} facts"


review_app = typer.Typer(name="review")
review_app.callback(invoke_without_command=True, help="Decide about facts that seem to disagree.")(handle_group_options)

OldFactArgument = Annotated[str, typer.Argument(metavar="OLD", help="The id of the older fact.")]
NewFactArgument = Annotated[str, typer.Argument(metavar="NEW", help="The id of the newer fact.")]
AllOption = Annotated[bool, typer.Option("--all", help="Also those that were decided.")]
UndoOption = Annotated[bool, typer.Option("--undo", help="Take it back.")]


@review_app.command("list")
@expand_options
def list_reviews(*, everything: AllOption = False, call: GlobalOptions) -> None:
    """List the pairs that curate proposed. Nothing happens to them until you decide.

    cofire review list
    """
    with call.shelf() as memory:
        found = memory.review(everything=everything)
    if call.as_json:
        return show_json({"reviews": [review_pair_json(one) for one in found]})
    if not found:
        return show_text("Nothing waits for a decision.")
    for one in found:
        show_text(f"{one.why} ({one.state})")
        show_fact_summary(one.old)
        show_fact_summary(one.new)


@review_app.command("accept")
@expand_options
def accept_review(*, old: OldFactArgument, new: NewFactArgument, call: GlobalOptions) -> None:
    """The newer fact is right: it supersedes the older.

    cofire review accept OLD NEW
    """
    with call.shelf() as memory:
        memory.accept(old, new)
    _show_decision(call, old, new, "accepted")


@review_app.command("dismiss")
@expand_options
def dismiss_review(*, old: OldFactArgument, new: NewFactArgument, call: GlobalOptions) -> None:
    """Both facts are right; the pair is not proposed again.

    cofire review dismiss OLD NEW
    """
    with call.shelf() as memory:
        memory.dismiss(old, new)
    _show_decision(call, old, new, "dismissed")


def supersede(*, old: OldFactArgument, new: NewFactArgument, undo: UndoOption = False, call: GlobalOptions) -> None:
    """Let a newer fact take the place of an older one, which is then valid no more.

    Nothing is deleted: the older one still answers with --as-of before, and --undo takes it back.

    cofire supersede OLD NEW
    """
    with call.shelf() as memory:
        if undo:
            memory.unsupersede(old, new)
            return _show_supersede_result(call, old, new, undone=True)
        edge = memory.supersede(old, new)
    if call.as_json:
        return show_json(explain.edge_json(edge))
    _show_supersede_result(call, old, new, undone=False)


def _show_supersede_result(call: GlobalOptions, old: str, new: str, *, undone: bool) -> None:
    if call.as_json:
        return show_json({"old": old, "new": new, "state": "undone"})
    show_text(f"{new} {'no longer supersedes' if undone else 'supersedes'} {old}.")


def _show_decision(call: GlobalOptions, old: str, new: str, state: str) -> None:
    if call.as_json:
        return show_json({"old": old, "new": new, "state": state})
    show_text(
        f"{'Accepted: the newer fact supersedes the older' if state == 'accepted' else 'Dismissed: both facts stay'}."
    )
