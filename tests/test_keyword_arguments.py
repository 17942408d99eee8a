"""A wrong argument is refused with the name that was meant, and `help()` explains every right one."""

import ast
import asyncio
import inspect
import re
from pathlib import Path
from typing import get_args

import pytest

from cofire import AsyncMemory, CofireError, Memory
from cofire import async_memory as async_module
from cofire.errors import InvalidArguments
from cofire.settings.presets import PRESETS, STRATEGIES, STRATEGY_WEIGHTS, PresetName
from cofire.verbs.keyword_arguments import SYNONYMS

METHODS = [name for name, member in vars(Memory).items() if not name.startswith("_") and callable(member)]


@pytest.fixture
def memory() -> Memory:
    return Memory(":memory:", embedder=None)


@pytest.mark.parametrize(
    ("method", "wrong", "meant"),
    [
        ("recall", "top_k", "k"),
        ("recall", "limit", "k"),
        ("recall", "n", "k"),
        ("recall", "user_id", "scope"),
        ("recall", "session_id", "session"),
        ("recall", "max_tokens", "budget"),
        ("recall", "catgory", "category"),
        ("remember", "content", "text"),
        ("remember", "user_id", "scope"),
        ("remember", "timestamp", "at"),
        ("remember", "tag", "tags"),
        ("facts", "top_k", "limit"),
        ("edges", "k", "limit"),
        ("connect", "type", "kind"),
        ("connect", "weigth", "weight"),
        ("explore", "depth", "max_depth"),
        ("feedback", "helpful", "helped"),
        ("forget", "fact_id", "ids"),
        ("dream", "scopes", "scope"),
        ("curate", "dryrun", "dry_run"),
    ],
)
def test_a_near_miss_is_named(memory: Memory, method: str, wrong: str, meant: str) -> None:
    with pytest.raises(InvalidArguments) as raised:
        getattr(memory, method)(**{wrong: "x"})
    assert str(raised.value).startswith(f"Memory.{method}() has no keyword argument “{wrong}”. Did you mean {meant}?")


@pytest.mark.parametrize("method", METHODS)
def test_every_method_refuses_a_keyword_it_does_not_take(memory: Memory, method: str) -> None:
    async def awaited() -> None:
        async with AsyncMemory(":memory:", embedder=None) as other:
            await getattr(other, method)(zzz=1)

    with pytest.raises(InvalidArguments, match=rf"^Memory\.{method}\(\) has no keyword argument “zzz”\. It takes: "):
        getattr(memory, method)(zzz=1)
    with pytest.raises(InvalidArguments, match=rf"^AsyncMemory\.{method}\(\) has no keyword argument “zzz”"):
        asyncio.run(awaited())


def test_a_wrong_argument_is_a_type_error_and_a_cofire_error(memory: Memory) -> None:
    with pytest.raises(TypeError) as raised:
        memory.recall("x", top_k=3)  # type: ignore[call-arg]
    assert isinstance(raised.value, CofireError)
    assert raised.value.way_out.startswith("Did you mean k?")


def test_a_memory_is_opened_with_known_arguments() -> None:
    with pytest.raises(InvalidArguments, match=r"^Memory\(\) has no keyword argument “path”\. Did you mean store\?"):
        Memory(path="x.db")  # type: ignore[call-arg]


def test_an_argument_that_needs_its_name_says_so(memory: Memory) -> None:
    with pytest.raises(InvalidArguments, match=r"Memory\.recall\(\) takes only query by position\. .* k, "):
        memory.recall("x", 3)  # type: ignore[misc]
    with pytest.raises(InvalidArguments, match=r"Memory\.stats\(\) takes nothing by position"):
        memory.stats(3)  # type: ignore[call-arg]


def test_remember_takes_the_text_by_name(memory: Memory) -> None:
    id = memory.remember(text="Tea is served at four.", tags="habit")
    assert memory.facts(id)[0].text == "Tea is served at four."
    assert memory.stats().facts == 1


def test_synonyms_name_parameters_that_exist() -> None:
    parameters = {
        name for method in [*METHODS, "__init__"] for name in inspect.signature(getattr(Memory, method)).parameters
    }
    assert set(SYNONYMS) - {"where"} <= parameters


@pytest.mark.parametrize("method", METHODS)
def test_help_explains_every_parameter(method: str) -> None:
    described = re.findall(r"^(\w+): ", inspect.getdoc(getattr(Memory, method)) or "", re.MULTILINE)
    assert sorted(described) == sorted(set(inspect.signature(getattr(Memory, method)).parameters) - {"self"})


def test_help_lists_the_allowed_values() -> None:
    parameters = inspect.signature(Memory.recall).parameters
    assert "Literal['no_recall', 'minimal', 'full', 'graph']" in str(parameters["mode"])
    assert "Literal['multi_hop'," in str(parameters["strategy"])
    assert "'words-only'" in str(parameters["preset"])
    assert "MergeMode" in str(inspect.signature(Memory.connect).parameters["mode"])


def test_allowed_values_are_those_that_exist() -> None:
    assert get_args(PresetName) == tuple(PRESETS)
    assert tuple(STRATEGY_WEIGHTS) == STRATEGIES


def test_the_source_of_an_awaited_method_has_the_same_summary() -> None:
    tree = ast.parse(Path(async_module.__file__).read_text(encoding="utf-8"))
    methods = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    summaries = {node.name: text for node in methods if (text := ast.get_docstring(node)) and node.name in METHODS}
    assert summaries == {name: getattr(Memory, name).__doc__.partition("\n")[0] for name in METHODS}
