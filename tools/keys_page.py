"""
Writes docs/reference/keys.md from the labels modules of all APIs: python tools/keys_page.py.
"""

from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

from kohort import apis
from kohort.apis.keys import ANNOTATION, LABEL, VARIABLE, Key

TARGET = Path(__file__).parents[1] / "docs/reference/keys.md"
HEAD = """# Labels, annotations and variables

Every key that Kohort writes or reads, by API. *upstream* means that the upstream controller of the
API has the key, too; else the version of Kohort that brought it. This page is made from the
`labels` modules by `python tools/keys_page.py`; do not edit it.
"""
TITLES = {LABEL: "Labels", ANNOTATION: "Annotations", VARIABLE: "Environment variables"}


def list_keys() -> dict[str, tuple[Key, ...]]:
    """The keys of each API that lists them, by the name of its kind."""
    found = {}
    for module in iter_modules(apis.__path__, f"{apis.__name__}."):
        if module.ispkg and any(m.name == "labels" for m in iter_modules(_path_of(module.name))):
            labels = import_module(f"{module.name}.labels")
            found[labels.KIND.name] = labels.KEYS
    return found


def render() -> str:
    """The page."""
    parts = [HEAD]
    for api, keys in list_keys().items():
        parts.append(f"## {api}\n")
        for kind, title in TITLES.items():
            rows = [_write_row(key) for key in keys if key.kind == kind]
            parts.append(f"### {title} of {api}\n")
            parts.append("| key | on | value | since |\n|---|---|---|---|\n" + "".join(rows))
    return "\n".join(parts)


def _path_of(package: str) -> list[str]:
    return list(import_module(package).__path__)


def _write_row(key: Key) -> str:
    return f"| `{key.text}` | {key.objects} | {key.value} | {key.since} |\n"


if __name__ == "__main__":
    TARGET.write_text(render())
