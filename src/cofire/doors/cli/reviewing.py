"""`cofire review` and `cofire supersede`: facts that seem to disagree, and facts that take the place of others."""

from __future__ import annotations

from typing import Annotated

import typer

from cofire import xray
from cofire.doors.cli.calling import Call, begin_group, spread
from cofire.doors.cli.layout import show_listed
from cofire.doors.cli.screen import show, show_json
from cofire.doors.shapes import proposal_json

app = typer.Typer(name="review")
app.callback(invoke_without_command=True, help="Decide about facts that seem to disagree.")(begin_group)

Old = Annotated[str, typer.Argument(metavar="OLD", help="The id of the older fact.")]
New = Annotated[str, typer.Argument(metavar="NEW", help="The id of the newer fact.")]
All = Annotated[bool, typer.Option("--all", help="Also those that were decided.")]
Undo = Annotated[bool, typer.Option("--undo", help="Take it back.")]


@app.command("list")
@spread
def list_reviews(*, everything: All = False, call: Call) -> None:
    """List the pairs that curate proposed. Nothing happens to them until you decide.

    cofire review list
    """
    with call.shelf() as memory:
        found = memory.review(everything=everything)
    if call.as_json:
        return show_json({"reviews": [proposal_json(one) for one in found]})
    if not found:
        return show("Nothing waits for a decision.")
    for one in found:
        show(f"{one.why} ({one.state})")
        show_listed(one.old)
        show_listed(one.new)


@app.command("accept")
@spread
def accept_review(*, old: Old, new: New, call: Call) -> None:
    """The newer fact is right: it supersedes the older.

    cofire review accept OLD NEW
    """
    with call.shelf() as memory:
        memory.accept(old, new)
    _decided(call, old, new, "accepted")


@app.command("dismiss")
@spread
def dismiss_review(*, old: Old, new: New, call: Call) -> None:
    """Both facts are right; the pair is not proposed again.

    cofire review dismiss OLD NEW
    """
    with call.shelf() as memory:
        memory.dismiss(old, new)
    _decided(call, old, new, "dismissed")


def supersede(*, old: Old, new: New, undo: Undo = False, call: Call) -> None:
    """Let a newer fact take the place of an older one, which is then valid no more.

    Nothing is deleted: the older one still answers with --as-of before, and --undo takes it back.

    cofire supersede OLD NEW
    """
    with call.shelf() as memory:
        if undo:
            memory.unsupersede(old, new)
            return _told(call, old, new, undone=True)
        edge = memory.supersede(old, new)
    if call.as_json:
        return show_json(xray.edge_json(edge))
    _told(call, old, new, undone=False)


def _told(call: Call, old: str, new: str, *, undone: bool) -> None:
    if call.as_json:
        return show_json({"old": old, "new": new, "state": "undone"})
    show(f"{new} {'no longer supersedes' if undone else 'supersedes'} {old}.")


def _decided(call: Call, old: str, new: str, state: str) -> None:
    if call.as_json:
        return show_json({"old": old, "new": new, "state": state})
    show(f"{'Accepted: the newer fact supersedes the older' if state == 'accepted' else 'Dismissed: both facts stay'}.")
