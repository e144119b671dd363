"""Windows of one user, whose home is empty, with Kohort and a real kubectl on the PATH."""

import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from terminal import OpenWindow, open_terminal

from client_tools import find_tool


@pytest.fixture
def open_window(tmp_path: Path) -> Iterator[OpenWindow]:
    """Open a window by its title; all are closed with the test."""
    home = tmp_path / "home"
    home.mkdir()
    folders = (Path(sys.executable).parent, find_tool("kubectl").parent)
    path = os.pathsep.join([*map(str, folders), os.environ.get("PATH", os.defpath)])
    # Each window has the kubeconfig that the ready lines of a cluster tell to export.
    environment = {
        "HOME": str(home),
        "PATH": path,
        "KUBECONFIG": str(home / ".kohort" / "sim" / "kubeconfig"),
    }
    with ExitStack() as windows:
        yield lambda title: windows.enter_context(open_terminal(home, environment, title))
