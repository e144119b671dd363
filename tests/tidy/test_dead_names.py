"""
What is defined in the source is read there: no function, class, constant or field without a reader.

A name counts as read if any module loads it, as a name or as an attribute, or a page of the
dashboard reads it. Exported names and names in the tables of the commands are read by their texts.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from source_files import CODE, FUNCTIONS, SOURCE, name_of, parse

# Read by others than our code, and by whom.
READ_ELSEWHERE = {
    "apiserver/schemas/go_json.py _ANNOTATIONS": "it keeps imports that annotations name",
    "dashboard/journal_reader.py entries_held": "a test of what is kept in memory",
    "simulation/faults/catalogue.py is_drawn": "tests of draws, which say what seeds leave out",
    "testing/plugin.py kohort_namespace": "pytest, as a fixture",
    "testing/plugin.py pytest_addoption": "pytest",
    "testing/plugin.py pytest_runtest_makereport": "pytest",
    "apiserver/server/serve.py handle_error": "aiohttp",
    "cli/documents.py ignore_aliases": "PyYAML",
    "cli/terminal.py writelines": "the writer of a stream",
    "apis/inferenceservice/components/components.py leader_pod_spec": "strategies of plugins",
    "apis/inferenceservice/strategies/strategy.py base_model_meta": "strategies of plugins",
    "apis/inferenceservice/strategies/strategy.py runtime_name": "strategies of plugins",
    "apis/inferenceservice/strategies/strategy.py user_specified_runtime": "strategies of plugins",
}
# The fields of the definitions are read as schemas.
SCHEMAS = "definition"


def list_reads(tree: ast.AST) -> Iterator[str]:
    """The names that a module reads."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            yield node.attr
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            yield node.id
        elif isinstance(node, ast.MatchClass):
            yield from node.kwd_attrs
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            # A name in __all__ or in the table of commands: "module:NAME".
            yield node.value.rpartition(":")[2]


def list_targets(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.AnnAssign):
        return [node.target.id] if isinstance(node.target, ast.Name) else []
    if isinstance(node, ast.Assign):
        return [target.id for target in node.targets if isinstance(target, ast.Name)]
    return []


def list_defined(body: list[ast.stmt]) -> Iterator[str]:
    """The functions, classes, constants and fields that statements define."""
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield node.name
            yield from list_defined(node.body)
        elif isinstance(node, FUNCTIONS):
            yield node.name
        else:
            yield from list_targets(node)


def list_page_reads() -> set[str]:
    """The names that pages read: JSON writes them in camel case."""
    text = " ".join(path.read_text() for path in Path(SOURCE).rglob("*.js"))
    return {re.sub("([A-Z])", r"_\1", word).lower() for word in re.findall(r"\w+", text)}


def test_what_is_defined_is_read():
    reads = {name for path in CODE for name in list_reads(parse(path))} | list_page_reads()
    unread = {
        f"{path.relative_to(SOURCE)} {name}"
        for path in CODE
        if SCHEMAS not in name_of(path)
        for name in list_defined(parse(path).body)
        if name not in reads and not name.startswith("__")
    }
    assert unread - set(READ_ELSEWHERE) == set(), "no module reads these"
    assert set(READ_ELSEWHERE) - unread == set(), "these are read by our code now"


def list_called(tree: ast.Module) -> tuple[set[str], set[str]]:
    """The names that a module calls, and those that it passes on as values."""
    calls = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    called, passed = set[str](), set[str]()
    for node in ast.walk(tree):
        if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load):
            name = node.id if isinstance(node, ast.Name) else node.attr
            (called if id(node) in calls else passed).add(name)
    return called, passed


def find_unread_parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[str]:
    arguments = function.args
    every = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
    inner = [node for each in function.body for node in ast.walk(each)]
    read = {node.id for node in inner if isinstance(node, ast.Name)}
    yield from (each.arg for each in every if each.arg not in read and each.arg[0] != "_")


def test_what_a_function_is_given_is_read():
    """A function that is passed on as a value has the parameters that its callers give."""
    modules = [parse(path) for path in CODE]
    called, passed = map(set[str]().union, *map(list_called, modules))
    unread = {
        f"{path.relative_to(SOURCE)} {function.name}({name})"
        for path, tree in zip(CODE, modules, strict=True)
        for function in tree.body
        if isinstance(function, FUNCTIONS) and not function.decorator_list
        if function.name in called - passed
        for name in find_unread_parameters(function)
    }
    assert unread == set()
