"""A setting that has no effect, or that another one limits, says so where it is set and where it is listed."""

from __future__ import annotations

import logging

import pytest

from cofire import Memory
from cofire.settings.dependencies import describe_effect
from cofire.settings.knobs import KNOBS
from cofire.settings.table import Settings
from tests.interfaces.calling import call

SYNAPSE = {"activation.dynamics": "synapse.documented"}


@pytest.mark.parametrize(
    ("name", "values", "reason"),
    [
        ("spreading_activation.delta", {}, "No effect while activation.dynamics is cofire"),
        ("spreading_activation.delta", SYNAPSE, ""),
        ("synapse.slope", SYNAPSE, "it needs synapse.paper"),
        ("diffusion.decay", {"activation.dynamics": "diffusion"}, ""),
        ("graph_recall.expanded", SYNAPSE, "it needs cofire or diffusion"),
        ("spreading_activation.tau_gate", {}, "abstention.rule is evidence; it needs gate"),
        ("spreading_activation.tau_gate", {"abstention.rule": "gate"}, ""),
        ("fusion.rrf_k", {}, "fusion.method is calibrated"),
        ("bridges.most", {}, "bridges.enabled is false; it needs true"),
        ("keyword.weight", {"keyword.enabled": False}, "keyword.enabled is false"),
        ("spreading_activation.max_iterations", {**SYNAPSE, "spreading_activation.max_iterations": 3}, ""),
        (
            "spreading_activation.max_iterations",
            {**SYNAPSE, "spreading_activation.max_iterations": 9},
            "Limited to 3 by graph_recall.steps",
        ),
        ("energy.max_depth", {"activation.dynamics": "energy", "energy.max_depth": 9}, "by graph_recall.steps"),
        ("recall.k", {}, ""),
    ],
)
def test_effect_depends_on_the_settings_in_force(name: str, values: dict[str, object], reason: str) -> None:
    effect = describe_effect(KNOBS[name], Settings.layered(call=values))
    assert reason in effect
    assert bool(effect) == bool(reason)


def test_a_memory_logs_settings_without_effect(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "cofire"):
        Memory(":memory:", embedder=None, settings={"spreading_activation.delta": 0.4, "recall.k": 5}).close()
    assert [record.getMessage() for record in caplog.records] == [
        (
            "spreading_activation.delta: No effect while activation.dynamics is cofire; it needs synapse.documented or "
            "synapse.paper."
        )
    ]
    caplog.clear()
    Memory(":memory:", embedder=None, settings={"spreading_activation.delta": 0.4, **SYNAPSE}).close()
    assert caplog.records == []


def test_config_set_and_list_say_that_a_setting_has_no_effect(
    tmp_path: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COFIRE_STORE", f"{tmp_path}/memory.db")
    monkeypatch.setenv("COFIRE_CONFIG", f"{tmp_path}/config.toml")
    monkeypatch.setenv("COFIRE_EMBEDDER_NAME", "none")
    ran = call("config", "set", "spreading_activation.delta", "0.4")
    assert ran.code == 0
    assert "No effect while activation.dynamics is cofire" in " ".join(ran.err.split())
    assert "No effect while activation.dynamics is cofire" in call("config", "list", "--changed").out
    assert "No effect while" in call("config", "get", "spreading_activation.delta", "--json").json["effect"]
    assert call("config", "get", "recall.k", "--json").json["effect"] == ""
    assert call("config", "set", "activation.dynamics", "synapse.documented").err == ""
    assert "No effect" not in call("config", "list", "--changed").out
    ran = call("config", "set", "spreading_activation.max_iterations", "9")
    assert "Limited to 3 by graph_recall.steps" in " ".join(ran.err.split())
