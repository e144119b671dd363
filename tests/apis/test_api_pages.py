"""The API reference is made from the definitions, so it cannot say anything else."""

import runpy
from pathlib import Path

import pytest

from kohort.apis.served import APIS

GENERATOR = runpy.run_path(str(Path(__file__).parents[2] / "tools" / "api_pages.py"))
FOLDER: Path = GENERATOR["FOLDER"]
PAGES: dict[str, str] = GENERATOR["render_pages"]()


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_what_its_generator_writes(name: str):
    assert (FOLDER / name).read_text() == PAGES[name], "run: python -m tools.api_pages"


def test_every_page_that_lies_there_is_made():
    assert {path.name for path in FOLDER.glob("api-*.md")} == set(PAGES)


def test_every_kind_of_every_api_is_on_the_page_of_its_group():
    for api in APIS:
        for define in api.definitions:
            spec = define()["spec"]
            for version in spec["versions"]:
                title = f"## {spec['names']['kind']} ({version['name']})\n"
                assert title in PAGES[f"api-{spec['group']}.md"]


def test_types_of_kubernetes_are_named_and_not_written_out():
    page = PAGES["api-leaderworkerset.x-k8s.io.md"]
    row = "| `spec.leaderWorkerTemplate.workerTemplate` | `PodTemplateSpec` | required |"
    assert row in page
    assert "workerTemplate.spec" not in page


def test_an_object_that_stands_twice_is_written_once():
    page = PAGES["api-ome.io.md"]
    assert "| `spec.engine.leader` |" not in page
    assert "| `spec.engine` | as `spec.decoder` |" in page
