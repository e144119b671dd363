"""What is written to the store of the API server goes through few places, each with its reason."""

import ast
from pathlib import Path

from source_files import SOURCE, parse

SERVER = SOURCE / "apiserver"
# Which module may call which function of the store or of the last step of a write.
ALLOWED = {
    "api/writes/storage.py": {"put"},
    "api/writes/pipeline.py": {"store_new", "commit"},  # create and update
    "api/writes/deletion.py": {"put", "remove", "commit"},  # deletion, and waiting for finalizers
    "api/subresources/bind.py": {"commit"},  # a binding sets a node and takes no other step
}
STORE = {"put", "remove"}
LAST_STEPS = {"store_new", "commit"}


def find_writes(path: Path) -> set[str]:
    """The functions of the store, or of the last step of a write, that a module calls."""
    found: set[str] = set()
    for node in ast.walk(parse(path)):
        if not isinstance(node, ast.Call):
            continue
        called = ast.unparse(node.func)
        owner, _, name = called.rpartition(".")
        if (name in STORE and owner.endswith("store")) or (name in LAST_STEPS and not owner):
            found.add(name)
    return found


def test_no_other_path_writes_to_the_store():
    writes = {str(p.relative_to(SERVER)): find_writes(p) for p in sorted(SERVER.rglob("*.py"))}
    assert {path: names for path, names in writes.items() if names} == ALLOWED
