"""The command group `config`: list, read, change and reset settings, choose presets."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.text import Text

import cofire
from cofire.cli.layout import format_setting_value
from cofire.cli.options import IN_MEMORY, GlobalOptions, expand_options, handle_group_options
from cofire.cli.terminal import show_json, show_text, show_warning, styled_text
from cofire.interfaces.json_shapes import presets_json, setting_json
from cofire.settings import sources
from cofire.settings.dependencies import describe_effect
from cofire.settings.knobs import KNOBS, Knob
from cofire.settings.presets import PRESETS
from cofire.settings.table import EMBEDDER_NAME, PRESET, Settings, find_knob

config_app = typer.Typer(name="config")
config_app.callback(invoke_without_command=True, help="Show and change settings.")(handle_group_options)


def _complete_setting_names(incomplete: str) -> list[str]:
    return [name for name in KNOBS if name.startswith(incomplete)]


def _complete_preset_names(incomplete: str) -> list[str]:
    return [name for name in PRESETS if name.startswith(incomplete)]


SettingNameArgument = Annotated[
    str,
    typer.Argument(metavar="NAME", help="The setting, for example keyword.k1.", autocompletion=_complete_setting_names),
]
SettingValueArgument = Annotated[str, typer.Argument(metavar="VALUE", help="The new value.")]
PresetNameArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="NAME",
        help="The preset to choose. Without it, all presets are listed.",
        autocompletion=_complete_preset_names,
    ),
]
InStoreOption = Annotated[
    bool,
    typer.Option("--in-store", help="Save to the store, for everyone who opens it, instead of your settings file."),
]
FromStoreOption = Annotated[
    bool, typer.Option("--in-store", help="Remove from the store instead of your settings file.")
]
OnlyChangedOption = Annotated[bool, typer.Option("--changed", help="Only settings that differ from their default.")]
DefaultOption = Annotated[
    bool, typer.Option("--default", help="Print a template with every setting, commented out at its default.")
]


@config_app.command("list")
@expand_options
def list_settings(*, changed: OnlyChangedOption = False, call: GlobalOptions) -> None:
    """List all settings with value, source, default and description."""
    settings = load_effective_settings(call)
    shown = [knob for knob, value in settings if not changed or value != knob.default]
    if call.as_json:
        locations = {"file": str(sources.settings_file_path()), "store": call.location}
        return show_json({"settings": [setting_json(knob, settings) for knob in shown], **locations})
    for knob in shown:
        _show_setting(knob, settings)
    if not shown:
        show_text("All settings have their default values.")


@config_app.command("get")
@expand_options
def get_setting(*, name: SettingNameArgument, call: GlobalOptions) -> None:
    """Print the current value of a setting."""
    settings = load_effective_settings(call)
    knob = find_knob(name)
    if call.as_json:
        return show_json(setting_json(knob, settings))
    show_text(format_setting_value(settings[knob]))


@config_app.command("set")
@expand_options
def set_setting(
    *, name: SettingNameArgument, value: SettingValueArgument, in_store: InStoreOption = False, call: GlobalOptions
) -> None:
    """Change a setting in your settings file, or in the store.

    Settings that affect how facts are stored are always saved in the store, so that all its users share them.
    """
    _save_setting(call, find_knob(name), value, in_store=in_store)


@config_app.command("reset")
@expand_options
def reset_setting(*, name: SettingNameArgument, in_store: FromStoreOption = False, call: GlobalOptions) -> None:
    """Remove a setting from your settings file or from the store, so that the next layer or the default applies."""
    knob = find_knob(name)
    removed, place = _remove_setting(call, knob, in_store=in_store)
    settings = load_effective_settings(call)
    if call.as_json:
        return show_json({**setting_json(knob, settings), "removed": removed, "place": place})
    show_text(f"{knob.name} was {'removed from' if removed else 'not set in'} {place}.")
    layer = settings.layer_of(knob)
    origin = "default" if layer == "default" else f"from the {layer}"
    show_text(f"Its value is now {format_setting_value(settings[knob])} ({origin}).")


@config_app.command("file")
@expand_options
def show_settings_file(*, default: DefaultOption = False, call: GlobalOptions) -> None:
    """Print the path of your settings file, or a template for it."""
    path = sources.settings_file_path()
    if call.as_json:
        return show_json({"file": str(path), "exists": path.exists(), "default": sources.render_commented_file()})
    show_text(sources.render_commented_file() if default else str(path))


@config_app.command("preset")
@expand_options
def choose_preset(*, name: PresetNameArgument = None, in_store: InStoreOption = False, call: GlobalOptions) -> None:
    """Choose a preset of settings, or list the presets."""
    if name is not None:
        return _save_setting(call, PRESET, name, in_store=in_store)
    current = load_effective_settings(call)[PRESET]
    if call.as_json:
        return show_json({"preset": current, "presets": presets_json()})
    for preset_name, preset in PRESETS.items():
        mark = " (active)" if preset_name == current else ""
        show_text(Text.assemble((preset_name, "bold"), (mark, "cyan")))
        show_text(preset.help, indent=4)
        for label, value in preset.settings.items():
            show_text(styled_text(f"{label} = {format_setting_value(value)}", "dim"), indent=4)


def load_effective_settings(call: GlobalOptions) -> Settings:
    """All settings, including those of the store if it exists. Does not create a store."""
    if not call.store_exists:
        return sources.load_settings(record=None, call={})
    with call.open_without_embedder() as memory:
        return memory.settings()


def _refuse_unknown_embedder(name: str) -> None:
    """Raise if no embedder has this name. With `reembedding`, opening a memory loads no model."""
    cofire.Memory(IN_MEMORY, embedder=name, reembedding=True).close()


def _save_setting(call: GlobalOptions, knob: Knob[Any], text: str, *, in_store: bool) -> None:
    if knob is EMBEDDER_NAME:
        _refuse_unknown_embedder(text)
    value: object
    if in_store or knob.kept_in_store:
        with call.open_without_embedder(may_create=True) as memory:
            value = memory.configure(knob.name, text)
        place = call.location
    else:
        value = sources.set_in_file(sources.settings_file_path(), knob.name, text)
        place = str(sources.settings_file_path())
    settings = load_effective_settings(call)
    effect = describe_effect(knob, settings)
    if effect:
        show_warning(f"{knob.name}: {effect}")
    if call.as_json:
        return show_json({**setting_json(knob, settings), "place": place})
    show_text(f"{knob.name} = {format_setting_value(value)} is saved in {place}.")
    if settings[knob] != value:
        show_warning(_describe_override(knob, settings))


def _describe_override(knob: Knob[Any], settings: Settings) -> str:
    """Why a saved value has no effect, and how to remove the value that overrides it."""
    layer = settings.layer_of(knob)
    problem = f"It has no effect: the {layer} overrides it with {format_setting_value(settings[knob])}."
    if layer == "environment":
        return f"{problem} Unset {knob.variable}."
    if layer == "store":
        return f"{problem} Remove that value with: cofire config reset {knob.name} --in-store"
    return problem


def _remove_setting(call: GlobalOptions, knob: Knob[Any], *, in_store: bool) -> tuple[bool, str]:
    if not (in_store or knob.kept_in_store):
        path = sources.settings_file_path()
        return sources.reset_in_file(path, knob.name), str(path)
    if not call.store_exists:
        return False, call.location
    with call.open_without_embedder() as memory:
        return memory.reset(knob.name), call.location


def _show_setting(knob: Knob[Any], settings: Settings) -> None:
    layer = settings.layer_of(knob)
    value = format_setting_value(settings[knob])
    if layer == "default":
        origin, style = "default", "dim"
    else:
        origin, style = f"from the {layer}, default {format_setting_value(knob.default)}", "bold cyan"
    show_text(Text.assemble((knob.name, "bold"), " = ", styled_text(value), (f"  ({origin})", style)))
    kept = " Saved in the store." if knob.kept_in_store else ""
    show_text(styled_text(f"{knob.help} {knob.allowed.capitalize()}.{kept}", "dim"), indent=4)
    effect = describe_effect(knob, settings)
    if effect:
        show_text(styled_text(effect, "yellow"), indent=4)
