"""The commands `forget`, `undo`, `supersede` and `review`."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from cofire import explain
from cofire.cli.layout import show_fact_summary, show_label_values
from cofire.cli.options import GlobalOptions, SharedFilterOptions, expand_options, handle_group_options
from cofire.cli.terminal import show_json, show_text, stderr_console, styled_text
from cofire.errors import InvalidInput
from cofire.explain import format_count
from cofire.interfaces.json_shapes import ForgetResultLike, forget_json, review_pair_json, undo_json
from cofire.model import CascadeCounts, Fact

PREVIEW_LIMIT = 10

ForgottenIdsArgument = Annotated[
    list[str] | None, typer.Argument(metavar="ID", help="Ids, as printed by remember, recall and list.")
]
DryRunOption = Annotated[bool, typer.Option("--dry-run", help="Show what would be removed, and remove nothing.")]
PurgeOption = Annotated[bool, typer.Option("--purge", help="Keep no receipt; the removal cannot be undone.")]
ReceiptArgument = Annotated[
    str, typer.Argument(metavar="RECEIPT", help="The id or the path of the receipt, as printed by forget.")
]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")]


def forget(
    *,
    ids: ForgottenIdsArgument = None,
    dry_run: DryRunOption = False,
    purge: PurgeOption = False,
    yes: YesOption = False,
    filters: SharedFilterOptions,
    call: GlobalOptions,
) -> None:
    """Remove facts by id or by filter, with their edges and vectors.

    A terminal shows the facts and asks for confirmation. Without a terminal, ids are removed at once and filters need
    --yes. Nothing of the facts stays in the store. A receipt beside it allows cofire undo for a limited time.

    cofire forget --session deploy-42 --dry-run
    """
    if ids and filters.keywords:
        raise InvalidInput("Both ids and filters were given.", way_out="Give either ids or filters.")
    with call.open_without_embedder() as memory:
        result = memory.forget(ids or None, dry_run=True, **filters.keywords)
        if not dry_run and result.facts and _confirm_forget(list(result.facts), by_filter=not ids, yes=yes):
            result = memory.forget(result.ids, purge=purge)
    _show_forget_result(call, result, dry_run=dry_run)


def undo(*, receipt: ReceiptArgument, call: GlobalOptions) -> None:
    """Restore forgotten facts from a receipt.

    Items that no longer fit, such as an edge to a fact that was removed too, are skipped and listed.
    """
    with call.open_without_embedder() as memory:
        result = memory.undo(receipt)
    if call.as_json:
        return show_json(undo_json(result))
    show_text(f"Restored {format_count(len(result.facts), 'fact')} and {format_count(result.edges, 'edge')}.")
    for item in result.skipped:
        show_text(styled_text(f"skipped {item.what} {item.id}: {item.why}", "dim"), indent=2)
    return None


def _confirm_forget(facts: list[Fact], *, by_filter: bool, yes: bool) -> bool:
    if yes:
        return True
    if sys.stdin is not None and sys.stdin.isatty():
        _show_preview(facts)
        target = "this fact" if len(facts) == 1 else f"these {len(facts):,} facts"
        return typer.confirm(f"Remove {target}?", err=True)
    if by_filter:
        raise InvalidInput(
            f"The filters match {format_count(len(facts), 'fact')}, and there is no terminal to ask for confirmation.",
            way_out="Check the facts with --dry-run, then add --yes.",
        )
    return True


def _show_preview(facts: list[Fact]) -> None:
    """Print the first facts to standard error, because standard output is for the result."""
    console = stderr_console()
    for fact in facts[:PREVIEW_LIMIT]:
        show_fact_summary(fact, console=console)
    if len(facts) > PREVIEW_LIMIT:
        show_text(f"… and {len(facts) - PREVIEW_LIMIT:,} more", console=console)


def _show_forget_result(call: GlobalOptions, result: ForgetResultLike, *, dry_run: bool) -> None:
    if call.as_json:
        return show_json(forget_json(result, dry_run=dry_run))
    count = format_count(len(result.facts), "fact")
    if dry_run:
        for fact in result.facts:
            show_fact_summary(fact)
        show_text(f"Would remove {count}.")
        return show_label_values(_format_radius(result.radius), indent=2) if result.facts else None
    removed = bool(result.facts) and not result.dry_run
    show_text(f"Removed {count}." if removed else "Nothing was removed.")
    if result.receipt is not None:
        show_text(f"Restore until {result.receipt.expires:%Y-%m-%d} with: cofire undo {result.receipt.id}")
    return None


def _format_radius(radius: CascadeCounts) -> dict[str, str]:
    """Everything that is removed with the facts."""
    rows = {
        "edges": radius.edges,
        "mentions": radius.mentions,
        "subjects": radius.subjects,
        "vectors": radius.vectors,
        "index entries": radius.words,
        "descriptions": radius.descriptions,
        "facts described by them": len(radius.cited),
    }
    return {label: f"{number:,}" for label, number in rows.items()}


review_app = typer.Typer(name="review")
review_app.callback(invoke_without_command=True, help="Review pairs of facts that seem to contradict each other.")(
    handle_group_options
)

OldFactArgument = Annotated[str, typer.Argument(metavar="OLD", help="The id of the older fact.")]
NewFactArgument = Annotated[str, typer.Argument(metavar="NEW", help="The id of the newer fact.")]
AllOption = Annotated[bool, typer.Option("--all", help="Include accepted and dismissed pairs.")]
UndoOption = Annotated[bool, typer.Option("--undo", help="Undo the superseding.")]


@review_app.command("list")
@expand_options
def list_reviews(*, everything: AllOption = False, call: GlobalOptions) -> None:
    """List the pairs of facts that curate proposed. They stay unchanged until you accept or dismiss them.

    cofire review list
    """
    with call.open_without_embedder() as memory:
        pairs = memory.review(everything=everything)
    if call.as_json:
        return show_json({"reviews": [review_pair_json(pair) for pair in pairs]})
    if not pairs:
        return show_text("No pairs are waiting for review.")
    for pair in pairs:
        show_text(f"{pair.why} ({pair.state})")
        show_fact_summary(pair.old)
        show_fact_summary(pair.new)


@review_app.command("accept")
@expand_options
def accept_review(*, old: OldFactArgument, new: NewFactArgument, call: GlobalOptions) -> None:
    """Accept a pair: the newer fact supersedes the older.

    cofire review accept OLD NEW
    """
    with call.open_without_embedder() as memory:
        memory.accept(old, new)
    _show_decision(call, old, new, "accepted")


@review_app.command("dismiss")
@expand_options
def dismiss_review(*, old: OldFactArgument, new: NewFactArgument, call: GlobalOptions) -> None:
    """Dismiss a pair: both facts stay, and it is not proposed again.

    cofire review dismiss OLD NEW
    """
    with call.open_without_embedder() as memory:
        memory.dismiss(old, new)
    _show_decision(call, old, new, "dismissed")


def supersede(*, old: OldFactArgument, new: NewFactArgument, undo: UndoOption = False, call: GlobalOptions) -> None:
    """Mark an older fact as replaced by a newer one.

    The older fact is not deleted. Recall returns it only with an earlier --as-of.

    cofire supersede OLD NEW
    """
    with call.open_without_embedder() as memory:
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
    results = {"accepted": "The newer fact supersedes the older.", "dismissed": "Both facts stay."}
    show_text(f"{state.capitalize()}. {results[state]}")
