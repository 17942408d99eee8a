"""The plugin folder: what it says is what cofire offers."""

import json
import shlex
from pathlib import Path

import cofire
from cofire.hooks.events import EVENT_NAMES

PLUGIN = Path(__file__).parents[3] / "plugins" / "claude-code"


def test_every_event_has_a_hook_that_calls_it() -> None:
    hooks = json.loads((PLUGIN / "hooks" / "hooks.json").read_text())["hooks"]
    called = {
        theirs: [shlex.split(one["command"]) for group in groups for one in group["hooks"]]
        for theirs, groups in hooks.items()
    }
    assert {theirs: [words[1] for words in commands] for theirs, commands in called.items()} == {
        theirs: ["hook"] for theirs in EVENT_NAMES.values()
    }
    assert {theirs: commands[0][2] for theirs, commands in called.items()} == {v: k for k, v in EVENT_NAMES.items()}


def test_the_plugin_is_of_this_version_and_offers_the_tools() -> None:
    assert json.loads((PLUGIN / ".claude-plugin" / "plugin.json").read_text())["version"] == cofire.__version__
    server = json.loads((PLUGIN / ".mcp.json").read_text())["mcpServers"]["cofire"]
    assert [server["command"], *server["args"]] == ["cofire", "mcp"]
