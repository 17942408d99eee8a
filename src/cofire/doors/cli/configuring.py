"""`cofire config`: the settings, where each value comes from, and where it is kept."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.text import Text

import cofire
from cofire import configuration
from cofire.doors.cli.calling import IN_MEMORY, Call, begin_group, spread
from cofire.doors.cli.screen import show, show_json, styled, warn
from cofire.presets import PRESETS
from cofire.setting_effects import describe_effect
from cofire.settings import EMBEDDER, KNOBS, PRESET, Knob, Settings, knob

app = typer.Typer(name="config")
app.callback(invoke_without_command=True, help="See and change the settings.")(begin_group)


def _names(incomplete: str) -> list[str]:
    return [name for name in KNOBS if name.startswith(incomplete)]


def _preset_names(incomplete: str) -> list[str]:
    return [name for name in PRESETS if name.startswith(incomplete)]


Name = Annotated[str, typer.Argument(metavar="NAME", help="The setting, as in keyword.k1.", autocompletion=_names)]
Value = Annotated[str, typer.Argument(metavar="VALUE", help="What it shall be.")]
PresetName = Annotated[
    str | None,
    typer.Argument(
        metavar="NAME", help="The preset to choose; without it all are listed.", autocompletion=_preset_names
    ),
]
InStore = Annotated[
    bool,
    typer.Option("--in-store", help="Keep it in the store, for everybody who opens it, and not in your settings file."),
]
FromStore = Annotated[
    bool, typer.Option("--in-store", help="Take it out of the store, and not out of your settings file.")
]
OnlyChanged = Annotated[bool, typer.Option("--changed", help="Only those that are not at their default.")]
Default = Annotated[
    bool, typer.Option("--default", help="Print a file with every setting in it, commented out at its default.")
]


@app.command("list")
@spread
def list_settings(*, changed: OnlyChanged = False, call: Call) -> None:
    """List every setting: its value, where that comes from, its default and what it does."""
    settings = in_force(call)
    chosen = [one for one, value in settings if not changed or value != one.default]
    if call.as_json:
        return show_json({"settings": [setting_json(one, settings) for one in chosen], **_places(call)})
    for one in chosen:
        _show_setting(one, settings)
    if not chosen:
        show("Every setting is at its default.")


@app.command("get")
@spread
def get_setting(*, name: Name, call: Call) -> None:
    """Print the value of a setting as it holds now."""
    settings, chosen = in_force(call), knob(name)
    if call.as_json:
        return show_json(setting_json(chosen, settings))
    show(shown(settings[chosen]))


@app.command("set")
@spread
def set_setting(*, name: Name, value: Value, in_store: InStore = False, call: Call) -> None:
    """Change a setting in your settings file, or in the store.

    Settings that decide how memory is written always go to the store, so that all its users agree.
    """
    _keep(call, knob(name), value, in_store=in_store)


@app.command("reset")
@spread
def reset_setting(*, name: Name, in_store: FromStore = False, call: Call) -> None:
    """Take a setting out of your settings file, or out of the store, so that the layer below holds again."""
    chosen = knob(name)
    removed, place = _take_out(call, chosen, in_store=in_store)
    settings = in_force(call)
    if call.as_json:
        return show_json({**setting_json(chosen, settings), "removed": removed, "place": place})
    show(f"{chosen.name} was {'taken out of' if removed else 'not in'} {place}.")
    show(f"It is {shown(settings[chosen])} now, from the layer {settings.layer_of(chosen)}.")


@app.command("file")
@spread
def settings_file(*, default: Default = False, call: Call) -> None:
    """Print where your settings file is, or a file to begin with."""
    path = configuration.file_path()
    if call.as_json:
        return show_json({"file": str(path), "exists": path.exists(), "default": configuration.commented_file()})
    show(configuration.commented_file() if default else str(path))


@app.command("preset")
@spread
def choose_preset(*, name: PresetName = None, in_store: InStore = False, call: Call) -> None:
    """Choose a named set of settings, or list them."""
    if name is not None:
        return _keep(call, PRESET, name, in_store=in_store)
    current = in_force(call)[PRESET]
    if call.as_json:
        return show_json({"preset": current, "presets": presets_json()})
    for each, preset in PRESETS.items():
        mark = " (in force)" if each == current else ""
        show(Text.assemble((each, "bold"), (mark, "cyan")))
        show(preset.help, indent=4)
        for label, value in preset.settings.items():
            show(styled(f"{label} = {shown(value)}", "dim"), indent=4)


def in_force(call: Call) -> Settings:
    """All settings; those of the store too, if it is there. Looking at settings makes no store."""
    if not call.store_exists:
        return configuration.gather(record=None, call={})
    with call.shelf() as memory:
        return memory.settings()


def setting_json(one: Knob[Any], settings: Settings) -> dict[str, Any]:
    """A setting as plain values."""
    return {
        "name": one.name,
        "value": settings[one],
        "layer": settings.layer_of(one),
        "default": one.default,
        "allowed": one.allowed,
        "help": one.help,
        "kept_in_store": one.kept,
        "variable": one.variable,
        "alias": one.alias,
        "effect": describe_effect(one, settings),
    }


def presets_json() -> list[dict[str, Any]]:
    return [{"name": name, "help": preset.help, "settings": dict(preset.settings)} for name, preset in PRESETS.items()]


def shown(value: object) -> str:
    """A value as it is written in a file or typed: true, not True."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _refuse_unknown_embedder(name: str) -> None:
    """A memory that is to be embedded anew knows the name, and asks no model before the first text."""
    cofire.Memory(IN_MEMORY, embedder=name, reembedding=True).close()


def _keep(call: Call, chosen: Knob[Any], value: str, *, in_store: bool) -> None:
    understood: object
    if chosen is EMBEDDER:
        _refuse_unknown_embedder(value)
    if in_store or chosen.kept:
        with call.shelf(may_begin=True) as memory:
            understood = memory.configure(chosen.name, value)
        place = call.place
    else:
        understood = configuration.set_in_file(configuration.file_path(), chosen.name, value)
        place = str(configuration.file_path())
    settings = in_force(call)
    effect = describe_effect(chosen, settings)
    if effect:
        warn(f"{chosen.name}: {effect}")
    if call.as_json:
        return show_json({**setting_json(chosen, settings), "place": place})
    show(f"{chosen.name} = {shown(understood)} is kept in {place}.")
    if settings[chosen] != understood:
        layer = settings.layer_of(chosen)
        warn(f"It has no effect yet: the {layer} lays {shown(settings[chosen])} over it.{_way_past(chosen, layer)}")


def _way_past(chosen: Knob[Any], layer: str) -> str:
    if layer == "environment":
        return f" Unset {chosen.variable}."
    return f" Take it out with: cofire config reset {chosen.name} --in-store" if layer == "store" else ""


def _take_out(call: Call, chosen: Knob[Any], *, in_store: bool) -> tuple[bool, str]:
    if not (in_store or chosen.kept):
        path = configuration.file_path()
        return configuration.reset_in_file(path, chosen.name), str(path)
    if not call.store_exists:
        return False, call.place
    with call.shelf() as memory:
        return memory.reset(chosen.name), call.place


def _show_setting(one: Knob[Any], settings: Settings) -> None:
    layer = settings.layer_of(one)
    style = "dim" if layer == "default" else "bold cyan"
    origin = "default" if layer == "default" else f"from the {layer}, default {shown(one.default)}"
    show(Text.assemble((one.name, "bold"), " = ", styled(shown(settings[one])), (f"  ({origin})", style)))
    show(styled(f"{one.help} {one.allowed.capitalize()}.{' Kept in the store.' if one.kept else ''}", "dim"), indent=4)
    effect = describe_effect(one, settings)
    if effect:
        show(styled(effect, "yellow"), indent=4)


def _places(call: Call) -> dict[str, str]:
    return {"file": str(configuration.file_path()), "store": call.place}
