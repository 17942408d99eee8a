"""Write docs/reference from the code: the commands, the settings, the errors and the HTTP API. docs/reference/json.md is written by hand.

python -m scripts.reference    writes the pages anew; a test fails when they are out of date
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from textwrap import dedent
from typing import Any

from typer.main import get_command

from cofire import errors
from cofire.cli.app import DEBUG_VARIABLE, EXIT_INTERRUPTED, EXIT_PIPE_CLOSED, EXIT_UNEXPECTED, build_app
from cofire.errors import CofireError
from cofire.index.native import SWITCH
from cofire.settings.knobs import KNOBS, Knob
from cofire.settings.presets import PRESETS
from cofire.settings.sources import FILE_VARIABLE, STORE_VARIABLE
from cofire.settings.table import SETTING_LAYERS
from scripts.house import ROOT
from scripts.http_reference import http_parts

REFERENCE = ROOT / "docs" / "reference"
MADE_BY_SCRIPT = "<!-- Written by scripts/reference.py; change the code and run it again. -->"

EVERYWHERE = "Global options"
CODES = {
    0: "Success, also if recall found nothing relevant.",
    1: "A problem: doctor found one, or the operating system reported an error.",
    2: "Invalid input: an option, a text, a time or a setting.",
    3: "No such fact.",
    4: "The store cannot complete the operation.",
    5: "The embedder cannot embed the texts.",
    6: "A custom channel exceeded its time limit.",
    EXIT_UNEXPECTED: f"An unexpected error; {DEBUG_VARIABLE}=1 in the environment shows the traceback.",
    EXIT_INTERRUPTED: "Interrupted with Ctrl-C.",
    EXIT_PIPE_CLOSED: "The reader closed the output, for example `cofire list | head -1`.",
}


def pages() -> dict[Path, str]:
    """Every page that is made, by the place where it belongs."""
    return {
        REFERENCE / "cli.md": page("The command line", commands_page()),
        REFERENCE / "settings.md": page("Settings", settings_page()),
        REFERENCE / "errors.md": page("Errors and exit codes", errors_page()),
        REFERENCE / "http.md": page("The HTTP API", http_parts()),
    }


def page(title: str, parts: Iterator[str]) -> str:
    return "\n\n".join([f"# {title}", MADE_BY_SCRIPT, *parts]) + "\n"


def commands_page() -> Iterator[str]:
    """Every command with its arguments and options."""
    root: Any = get_command(build_app([]))
    yield root.help
    yield (
        "Every command takes `--store PATH` and `--json`, before or after its name. The output of `--json` is described in "
        "[json.md](json.md), the settings in [settings.md](settings.md), the exit codes in [errors.md](errors.md). "
        "Colours and progress bars appear on terminals only; `NO_COLOR` disables colours. "
        "`cofire --install-completion` enables completion of commands, options and setting names in your shell."
    )
    yield table(("option of every command", "what it does"), option_rows(root, panel=EVERYWHERE))
    yield table(("variable", "what it does"), variables())
    for path, command in commands(root, "cofire"):
        yield from command_section(path, command)


def variables() -> list[tuple[str, str]]:
    return [
        (f"`{STORE_VARIABLE}`", "The default store."),
        (f"`{FILE_VARIABLE}`", "Your settings file, instead of config.toml in your configuration folder."),
        ("`COFIRE_…`", "A setting; see [settings.md](settings.md). Unknown names are an error."),
        (f"`{SWITCH}`", "`off`: use numpy instead of compiled code, which is slower."),
        (f"`{DEBUG_VARIABLE}`", "Any value: show the traceback of unexpected errors."),
    ]


def commands(group: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Every command that does something, with the words that call it."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, f"{path} {name}")
        else:
            yield f"{path} {name}", command


def command_section(path: str, command: Any) -> Iterator[str]:
    yield f"## {path}"
    yield f"```\n{usage(path, command)}\n```"
    yield from paragraphs(command.help)
    arguments = [(f"`{named(one)}`", one.help or "") for one in command.params if one.param_type_name == "argument"]
    if arguments:
        yield table(("argument", "what it is"), arguments)
    options = option_rows(command)
    if options:
        yield table(("option", "what it does"), options)


def usage(path: str, command: Any) -> str:
    """How it is called, in one line."""
    arguments = [one for one in command.params if one.param_type_name == "argument"]
    words = [f"{named(one)}{'…' if one.nargs == -1 else ''}" for one in arguments]
    shown = [word if one.required else f"[{word}]" for one, word in zip(arguments, words, strict=True)]
    return " ".join([path, "[OPTIONS]", *shown])


def paragraphs(help: str) -> Iterator[str]:
    """The help; a paragraph that is a call of cofire is an example."""
    for paragraph in help.strip().split("\n\n"):
        text = " ".join(paragraph.split())
        yield f"```sh\n{text}\n```" if text.startswith(("cofire ", "echo ")) else text


def option_rows(command: Any, panel: str | None = None) -> list[tuple[str, str]]:
    """The options of a command that are its own, or those of one panel."""
    options = [one for one in command.params if one.param_type_name == "option" and one.name not in NOT_OURS]
    wanted = [one for one in options if (one.rich_help_panel == EVERYWHERE) == (panel == EVERYWHERE)]
    return [(f"`{', '.join(one.opts)}{'' if one.is_flag else f' {named(one)}'}`", described(one)) for one in wanted]


NOT_OURS = ("install_completion", "show_completion", "help")


def described(option: Any) -> str:
    default = f" Default: {option.default}." if option.default and not option.is_flag else ""
    return f"{option.help}{default}"


def named(parameter: Any) -> str:
    """What stands for a value: as it is called, or what it may be."""
    choices = getattr(parameter.type, "choices", ())
    return str(parameter.metavar or "|".join(choices) or parameter.name.upper()).strip("[].…")


def settings_page() -> Iterator[str]:
    """Every setting, and the presets."""
    yield (
        'Each setting has one name everywhere: in Python (`Memory(settings={"keyword.k1": 1.2})`, '
        "`memory.recall(…, settings={…})`), on the command line (`cofire config set keyword.k1 1.2`, "
        "`cofire recall … --set keyword.k1=1.2`), in the settings file (`k1 = 1.2` under `[keyword]`) "
        "and, as the variable named below, in the environment."
    )
    yield (
        f"Values come from these layers; later ones win: {', '.join(SETTING_LAYERS)}. A setting that is saved in the store "
        "affects how facts are stored; `cofire config set` saves it there, so that everyone who opens the store shares it. "
        "Other settings go to your settings file, or to the store with `--in-store`."
    )
    group = ""
    for knob in KNOBS.values():
        if group != (group := knob.name.rpartition(".")[0] or knob.name):
            yield f"## {group}"
        yield from setting_section(knob)
    yield "## Presets"
    yield "`cofire config preset NAME` chooses one. It overrides the defaults; all other layers override it."
    for name, preset in PRESETS.items():
        yield f"### {name}"
        yield preset.help
        if preset.settings:
            yield table(
                ("setting", "value"), [(f"`{key}`", f"`{shown(value)}`") for key, value in preset.settings.items()]
            )


def setting_section(knob: Knob[Any]) -> Iterator[str]:
    yield f"### {knob.name}"
    yield knob.help
    alias = f" · also called `{knob.alias}`" if knob.alias else ""
    kept = " · saved in the store" if knob.kept_in_store else ""
    yield f"Default `{shown(knob.default)}` · {knob.allowed} · `{knob.variable}`{alias}{kept} · source: {knob.source}"


def shown(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def errors_page() -> Iterator[str]:
    """The tree of errors, what each means, and the exit codes."""
    introduction, tree = tree_of_errors()
    yield introduction
    yield (
        "In Python each error has `problem` and `way_out`. The command line prints `error: PROBLEM` and below it the way out to "
        'standard error; with `--json` it prints `{"error": {"kind": …, "problem": …, "way_out": …}}` there.'
    )
    yield f"```\n{tree}\n```"
    rows = [(f"`{kind.__name__}`", str(kind.exit_code), meanings()[kind.__name__]) for kind in kinds(CofireError)]
    yield table(("error", "exit code", "what it means"), rows)
    yield "## Exit codes"
    yield table(("code", "what it means"), [(str(code), meaning) for code, meaning in CODES.items()])


def tree_of_errors() -> tuple[str, str]:
    """What the errors module says of itself, and the tree it draws."""
    introduction, _, tree = (errors.__doc__ or "").strip().partition("\n\n")
    return introduction, dedent(tree)


def meanings() -> Mapping[str, str]:
    """What the tree says of each error."""
    found = re.findall(r"^[\s│├└─]*(\w+)(?: +(\S.*))?$", tree_of_errors()[1], flags=re.MULTILINE)
    return {name: meaning or "Any of these errors." for name, meaning in found}


def kinds(root: type[CofireError]) -> Iterator[type[CofireError]]:
    """An error and those below it, as the errors module has them."""
    yield root
    for kind in root.__subclasses__():
        if kind.__module__ == errors.__name__:
            yield from kinds(kind)


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


if __name__ == "__main__":
    REFERENCE.mkdir(parents=True, exist_ok=True)
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")
        print(path.relative_to(ROOT))
