"""Every reason that the code can give, read off the code: arguments that are reasons, resolved."""

import ast
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).parents[2] / "src"
# Where the reason stands in a call: as an argument of that number, or by the keyword.
CALLS = {
    "Blocker": 0,
    "InvalidWorkload": 0,
    "ServiceError": 0,
    "Problem": 0,
    "StatusVerdict": 1,
    "Health": 1,
    "Trouble": 2,
    "_Cause": 0,
    "write_stall": 1,
    "Decision": 2,  # of a warm-up: the reason goes into its status
}
FOLDERS = ("apis", "planning", "views", "controller/reconcile.py", "controller/refusals.py")


def list_reasons() -> dict[str, str]:
    """Each reason with the module that gives it."""
    found: dict[str, str] = {}
    for folder in FOLDERS:
        path = SOURCE / "kohort" / folder
        for file in [path] if path.is_file() else sorted(path.rglob("*.py")):
            parts = file.relative_to(SOURCE).with_suffix("").parts
            name = ".".join(parts).removesuffix(".__init__")
            for reason in find_reasons(ast.parse(file.read_text()), import_module(name)):
                found.setdefault(reason, name)
    return found


def find_reasons(tree: ast.Module, module: Any) -> Iterator[str]:
    """The reasons in one module, as far as they are written there or in a name that it knows."""
    for node in ast.walk(tree):
        if module.__name__ == "kohort.views.health" and isinstance(node, ast.Return):
            # A verdict that is not made yet: a reason and its sentence.
            for value in node.value.elts[:1] if isinstance(node.value, ast.Tuple) else ():
                yield from resolve(value, module)
        if not isinstance(node, ast.Call):
            continue
        function = node.func
        called = getattr(function, "attr", "") or getattr(function, "id", "")
        if called in CALLS:
            given = [k.value for k in node.keywords if k.arg == "reason"]
            given += node.args[CALLS[called] :]
            for value in given[:1]:
                yield from resolve(value, module)


def resolve(value: ast.expr, module: Any) -> Iterator[str]:
    """The texts that an expression can be; those that come from elsewhere are not known."""
    match value:
        case ast.Constant(value=str(text)) if text:
            yield text
        case ast.Name(id=name) if isinstance(getattr(module, name, None), str):
            yield getattr(module, name)
        case ast.Attribute(value=ast.Name(id=name), attr=attr):
            held = getattr(getattr(module, name, None), attr, None)
            if isinstance(held, str):
                yield held
        case ast.IfExp(body=body, orelse=other):
            yield from resolve(body, module)
            yield from resolve(other, module)
        case ast.BoolOp(values=values):
            for each in values:
                yield from resolve(each, module)
