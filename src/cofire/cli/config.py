"""The command group `config`: list, read, change and reset settings, choose presets."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.text import Text

import cofire
from cofire.cli.options import IN_MEMORY, GlobalOptions, expand_options, handle_group_options
from cofire.cli.terminal import show_json, show_text, show_warning, styled_text
from cofire.settings import sources
from cofire.settings.dependencies import describe_effect
from cofire.settings.knobs import KNOBS, Knob
from cofire.settings.presets import PRESETS
from cofire.settings.table import EMBEDDER_NAME, PRESET, Settings, find_knob

config_app = typer.Typer(name="config")
config_app.callback(invoke_without_command=True, help="See and change the settings.")(handle_group_options)


def _complete_setting_names(incomplete: str) -> list[str]:
    return [name for name in KNOBS if name.startswith(incomplete)]


def _complete_preset_names(incomplete: str) -> list[str]:
    return [name for name in PRESETS if name.startswith(incomplete)]


SettingNameArgument = Annotated[
    str, typer.Argument(metavar="NAME", help="The setting, as in keyword.k1.", autocompletion=_complete_setting_names)
]
SettingValueArgument = Annotated[str, typer.Argument(metavar="VALUE", help="What it shall be.")]
PresetNameArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="NAME", help="The preset to choose; without it all are listed.", autocompletion=_complete_preset_names
    ),
]
InStoreOption = Annotated[
    bool,
    typer.Option("--in-store", help="Keep it in the store, for everybody who opens it, and not in your settings file."),
]
FromStoreOption = Annotated[
    bool, typer.Option("--in-store", help="Take it out of the store, and not out of your settings file.")
]
OnlyChangedOption = Annotated[bool, typer.Option("--changed", help="Only those that are not at their default.")]
DefaultOption = Annotated[
    bool, typer.Option("--default", help="Print a file with every setting in it, commented out at its default.")
]


@config_app.command("list")
@expand_options
def list_settings(*, changed: OnlyChangedOption = False, call: GlobalOptions) -> None:
    """List every setting: its value, where that comes from, its default and what it does."""
    settings = load_effective_settings(call)
    chosen = [one for one, value in settings if not changed or value != one.default]
    if call.as_json:
        return show_json({"settings": [setting_json(one, settings) for one in chosen], **_list_locations(call)})
    for one in chosen:
        _show_setting(one, settings)
    if not chosen:
        show_text("Every setting is at its default.")


@config_app.command("get")
@expand_options
def get_setting(*, name: SettingNameArgument, call: GlobalOptions) -> None:
    """Print the value of a setting as it holds now."""
    settings, chosen = load_effective_settings(call), find_knob(name)
    if call.as_json:
        return show_json(setting_json(chosen, settings))
    show_text(format_setting_value(settings[chosen]))


@config_app.command("set")
@expand_options
def set_setting(
    *, name: SettingNameArgument, value: SettingValueArgument, in_store: InStoreOption = False, call: GlobalOptions
) -> None:
    """Change a setting in your settings file, or in the store.

    Settings that decide how memory is written always go to the store, so that all its users agree.
    """
    _save_setting(call, find_knob(name), value, in_store=in_store)


@config_app.command("reset")
@expand_options
def reset_setting(*, name: SettingNameArgument, in_store: FromStoreOption = False, call: GlobalOptions) -> None:
    """Take a setting out of your settings file, or out of the store, so that the layer below holds again."""
    chosen = find_knob(name)
    removed, place = _remove_setting(call, chosen, in_store=in_store)
    settings = load_effective_settings(call)
    if call.as_json:
        return show_json({**setting_json(chosen, settings), "removed": removed, "place": place})
    show_text(f"{chosen.name} was {'taken out of' if removed else 'not in'} {place}.")
    show_text(f"It is {format_setting_value(settings[chosen])} now, from the layer {settings.layer_of(chosen)}.")


@config_app.command("file")
@expand_options
def show_settings_file(*, default: DefaultOption = False, call: GlobalOptions) -> None:
    """Print where your settings file is, or a file to begin with."""
    path = sources.settings_file_path()
    if call.as_json:
        return show_json({"file": str(path), "exists": path.exists(), "default": sources.render_commented_file()})
    show_text(sources.render_commented_file() if default else str(path))


@config_app.command("preset")
@expand_options
def choose_preset(*, name: PresetNameArgument = None, in_store: InStoreOption = False, call: GlobalOptions) -> None:
    """Choose a named set of settings, or list them."""
    if name is not None:
        return _save_setting(call, PRESET, name, in_store=in_store)
    current = load_effective_settings(call)[PRESET]
    if call.as_json:
        return show_json({"preset": current, "presets": presets_json()})
    for each, preset in PRESETS.items():
        mark = " (in force)" if each == current else ""
        show_text(Text.assemble((each, "bold"), (mark, "cyan")))
        show_text(preset.help, indent=4)
        for label, value in preset.settings.items():
            show_text(styled_text(f"{label} = {format_setting_value(value)}", "dim"), indent=4)


def load_effective_settings(call: GlobalOptions) -> Settings:
    """All settings; those of the store too, if it is there. Looking at settings makes no store."""
    if not call.store_exists:
        return sources.load_settings(record=None, call={})
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
        "kept_in_store": one.kept_in_store,
        "variable": one.variable,
        "alias": one.alias,
        "effect": describe_effect(one, settings),
    }


def presets_json() -> list[dict[str, Any]]:
    return [{"name": name, "help": preset.help, "settings": dict(preset.settings)} for name, preset in PRESETS.items()]


def format_setting_value(value: object) -> str:
    """A value as it is written in a file or typed: true, not True."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _refuse_unknown_embedder(name: str) -> None:
    """A memory that is to be embedded anew knows the name, and asks no model before the first text."""
    cofire.Memory(IN_MEMORY, embedder=name, reembedding=True).close()


def _save_setting(call: GlobalOptions, chosen: Knob[Any], value: str, *, in_store: bool) -> None:
    understood: object
    if chosen is EMBEDDER_NAME:
        _refuse_unknown_embedder(value)
    if in_store or chosen.kept_in_store:
        with call.shelf(may_begin=True) as memory:
            understood = memory.configure(chosen.name, value)
        place = call.place
    else:
        understood = sources.set_in_file(sources.settings_file_path(), chosen.name, value)
        place = str(sources.settings_file_path())
    settings = load_effective_settings(call)
    effect = describe_effect(chosen, settings)
    if effect:
        show_warning(f"{chosen.name}: {effect}")
    if call.as_json:
        return show_json({**setting_json(chosen, settings), "place": place})
    show_text(f"{chosen.name} = {format_setting_value(understood)} is kept in {place}.")
    if settings[chosen] != understood:
        layer = settings.layer_of(chosen)
        show_warning(
            f"It has no effect yet: the {layer} lays {format_setting_value(settings[chosen])} over it.{_format_override_hint(chosen, layer)}"
        )


def _format_override_hint(chosen: Knob[Any], layer: str) -> str:
    if layer == "environment":
        return f" Unset {chosen.variable}."
    return f" Take it out with: cofire config reset {chosen.name} --in-store" if layer == "store" else ""


def _remove_setting(call: GlobalOptions, chosen: Knob[Any], *, in_store: bool) -> tuple[bool, str]:
    if not (in_store or chosen.kept_in_store):
        path = sources.settings_file_path()
        return sources.reset_in_file(path, chosen.name), str(path)
    if not call.store_exists:
        return False, call.place
    with call.shelf() as memory:
        return memory.reset(chosen.name), call.place


def _show_setting(one: Knob[Any], settings: Settings) -> None:
    layer = settings.layer_of(one)
    style = "dim" if layer == "default" else "bold cyan"
    origin = "default" if layer == "default" else f"from the {layer}, default {format_setting_value(one.default)}"
    show_text(
        Text.assemble(
            (one.name, "bold"), " = ", styled_text(format_setting_value(settings[one])), (f"  ({origin})", style)
        )
    )
    show_text(
        styled_text(
            f"{one.help} {one.allowed.capitalize()}.{' Kept in the store.' if one.kept_in_store else ''}", "dim"
        ),
        indent=4,
    )
    effect = describe_effect(one, settings)
    if effect:
        show_text(styled_text(effect, "yellow"), indent=4)


def _list_locations(call: GlobalOptions) -> dict[str, str]:
    return {"file": str(sources.settings_file_path()), "store": call.place}
