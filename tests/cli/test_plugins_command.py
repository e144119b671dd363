"""``kohort plugins``: what is installed and why it does not load, and packages that begin whole."""

import importlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest
from command_lines import Told

from kohort.cli.commands.plugins import KINDS
from kohort.cli.plugins.installed import GROUPS
from kohort.cli.plugins.skeletons import SKELETONS, write_skeleton
from plugin_packages import make_visible, write_metadata

RunKohort = Callable[..., Told]
NAMES = {
    "strategy": "rack-by-rack",
    "api": "tide-table",
    "gang": "pier",
    "plugin": "zone-of-config",
    "workload-strategy": "fleet",
}


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new package of each kind, as it was written, with the metadata of an install."""
    home = tmp_path_factory.mktemp("packages")
    for kind, name in NAMES.items():
        write_skeleton(kind, name, home / name)
        make_visible(home / name)
    return home


@pytest.fixture(scope="module")
def passed(packages: Path) -> set[str]:
    """The folders in which tests ran, all of which passed; one run of pytest for all."""
    report = packages / "report.xml"
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            ".",
            "-p",
            "no:cacheprovider",
            f"--junitxml={report}",
        ],
        cwd=packages,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PYTEST_ADDOPTS": ""},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    cases = ElementTree.parse(report).iter("testcase")
    return {str(case.get("classname")).partition(".")[0] for case in cases}


@pytest.fixture
def installed(packages: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """All five packages on the path of this process."""
    for name in NAMES.values():
        monkeypatch.syspath_prepend(str(packages / name))
    yield
    for name in NAMES.values():
        sys.modules.pop(name.replace("-", "_"), None)


def test_each_kind_has_a_skeleton_and_an_entry_point_group_of_its_own():
    assert tuple(SKELETONS) == KINDS == tuple(NAMES)
    assert {skeleton.group for skeleton in SKELETONS.values()} == set(GROUPS)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_the_test_of_a_new_package_passes_as_it_is_written(passed: set[str], kind: str):
    assert NAMES[kind] in passed


def test_all_five_are_listed_with_package_version_and_entry_point(installed, run_kohort: RunKohort):
    told = run_kohort("plugins", "list", "-o", "json")
    assert told.code == 0, told.out
    found = {plugin["name"]: plugin for plugin in json.loads(told.out)}
    assert set(found) == set(NAMES.values())
    assert found["zone-of-config"] == {
        "group": "kohort.plugins",
        "name": "zone-of-config",
        "package": "zone-of-config",
        "version": "0.1.0",
        "target": "zone_of_config:ZoneOfConfig",
        "fault": "",
    }


def test_a_plugin_that_cannot_be_used_is_listed_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run_kohort: RunKohort
):
    (tmp_path / "odd_plugins.py").write_text("NUMBER = 1\n")
    points = [
        "missing = no_such_module:x",
        "budgeted = odd_plugins:NUMBER",
        "n = odd_plugins:NUMBER",
    ]
    others = {
        "kohort.apis": ["api = odd_plugins:NUMBER"],
        "kohort.gangs": ["g = odd_plugins:NUMBER"],
    }
    write_metadata(tmp_path, "odd", {"kohort.rollout_strategies": points, **others})
    monkeypatch.syspath_prepend(str(tmp_path))
    told = run_kohort("plugins", "list")
    assert told.code == 4
    for sentence in (
        "ModuleNotFoundError: No module named 'no_such_module'",
        "ValueError: Kohort has a rollout strategy of that name",
        "ValueError: it must be a function, not int",
        "ValueError: it must be an Api or several, not int",
        "ValueError: it must be a Dialect or several, not int",
    ):
        assert f"✗ cannot be used: {sentence}" in told.out


def test_no_plugin_at_all_is_said_in_a_sentence(run_kohort: RunKohort):
    told = run_kohort("plugins", "list")
    assert (told.code, told.out) == (0, "")
    assert "kohort plugins new KIND NAME" in told.err


def test_the_next_steps_are_told(run_kohort: RunKohort, tmp_path: Path):
    folder = tmp_path / "new" / "rack-by-rack"
    told = run_kohort("plugins", "new", "strategy", "rack-by-rack", "--dir", str(folder))
    assert told.code == 0, told.err
    names = ["pyproject.toml", "rack_by_rack.py", "test_rack_by_rack.py"]
    assert told.out.splitlines() == [f"wrote {folder / name}" for name in names]
    assert f"  cd {folder}\n  pytest\n  pip install -e . && kohort plugins list\n" in told.err
    assert "kohort sim run --seeds 20 --strategy rack-by-rack --compare budgeted" in told.err


def test_nothing_that_exists_is_overwritten(run_kohort: RunKohort, tmp_path: Path):
    mine = tmp_path / "pyproject.toml"
    mine.write_text("mine")
    told = run_kohort("plugins", "new", "gang", "pier", "--dir", str(tmp_path))
    assert told.code == 1
    assert f"{tmp_path} exists and is not empty" in told.err
    assert (mine.read_text(), len(list(tmp_path.iterdir()))) == ("mine", 1)


@pytest.mark.parametrize(
    ("kind", "name", "sentence"),
    [
        ("strategy", "Rack", "'Rack' is no name for a plugin"),
        ("strategy", "../rack", "'../rack' is no name for a plugin"),
        ("strategy", "budgeted", "Kohort has 'budgeted' itself"),
        ("gang", "volcano", "Kohort has 'volcano' itself"),
        ("api", "lws", "Kohort has 'lws' itself"),
        ("plugin", "class", "a Python module is called 'class' already"),
        ("plugin", "json", "a Python module is called 'json' already"),
        ("plugin", "aiohttp", "a Python module is called 'aiohttp' already"),
        ("carrier", "x", "'carrier' is none of strategy, api"),
    ],
)
def test_a_name_that_cannot_be_used_is_refused(
    run_kohort: RunKohort, tmp_path: Path, kind: str, name: str, sentence: str
):
    told = run_kohort("plugins", "new", kind, name, "--dir", str(tmp_path / "x"))
    assert told.code == 2
    assert sentence in told.err
    assert not (tmp_path / "x").exists()


def test_an_api_of_another_package_is_served_by_its_name(installed, monkeypatch):
    from kohort.apis import served

    known, faults = served._load()
    assert faults == {}
    monkeypatch.setattr(served, "KNOWN", {**served.BUILT_INS, **known})
    [api] = served.choose_apis(served.read_apis("tide-table"))
    assert api is importlib.import_module("tide_table").API


def test_an_api_that_does_not_load_is_named_where_it_is_asked_for(monkeypatch):
    from kohort.apis import served

    monkeypatch.setattr(served, "_FAULTS", {"odd": "ImportError: no"})
    with pytest.raises(ValueError, match="names 'odd', which cannot be loaded: ImportError: no"):
        served.read_apis("lws,odd")
