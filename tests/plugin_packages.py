"""Packages of plugins for tests: made visible by metadata, as an install would do it."""

import tomllib
from pathlib import Path


def make_visible(folder: Path) -> None:
    """Write the metadata that an install of the package in a folder would leave there."""
    project = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
    groups = project["entry-points"].items()
    points = {group: [f"{name} = {value}" for name, value in own.items()] for group, own in groups}
    write_metadata(folder, project["name"], points, project["version"])


def write_metadata(
    folder: Path, name: str, points: dict[str, list[str]], version: str = "1.0"
) -> None:
    """Write the metadata of a package with entry points into a folder of the path."""
    about = folder / f"{name}-{version}.dist-info"
    about.mkdir()
    head = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    (about / "METADATA").write_text(head)
    lines = [line for group, own in points.items() for line in (f"[{group}]", *own)]
    (about / "entry_points.txt").write_text("\n".join(lines) + "\n")
