"""Commands on a cluster in which one tenant stored what others should not have to see."""

import asyncio
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from command_lines import Told

from kohort.apis.leaderworkerset.api import LEADER_WORKER_SET
from kohort.apis.rolebasedgroup.single_role.api import ROLE_INSTANCE_SET
from kohort.cluster.http import connect
from kohort.cluster.kinds import DEFINITION
from kohort.cluster.objects import Kind, Object
from kohort.testing import start_cluster

pytestmark = pytest.mark.slow
RunKohort = Callable[..., Told]
KIND = LEADER_WORKER_SET.kind
INSTANCE_SET = ROLE_INSTANCE_SET.kind
EVIL = "evil\x1b]0;owned\x07\u202e:1\nnext"
ANYTHING = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


def make(name: str, spec: Any, status: Object | None = None) -> Object:
    head = {"apiVersion": KIND.api_version, "kind": KIND.name, "metadata": {"name": name}}
    return {**head, **({"spec": spec} if spec is not None else {}), "status": status or {}}


def make_spec(image: str) -> Object:
    template = {"spec": {"containers": [{"name": "c", "image": image}]}}
    return {"replicas": 1, "leaderWorkerTemplate": {"size": 1, "workerTemplate": template}}


async def fill(kubeconfig: Path) -> None:
    """Store a good object, one that lies in its status, and malformed ones."""
    definition = LEADER_WORKER_SET.definition()
    version = definition["spec"]["versions"][0]
    version["schema"] = {"openAPIV3Schema": ANYTHING}
    version["subresources"] = {}
    lie = {"type": "Stalled", "status": "True", "observedGeneration": 1}
    lie |= {"reason": EVIL, "message": EVIL, "lastTransitionTime": EVIL}
    async with connect(kubeconfig) as door:
        await door.create(DEFINITION, "", definition)
        for obj in (
            make("bare", None),
            make("good", make_spec("engine:1")),
            make("liar", make_spec(EVIL), {"conditions": [lie]}),
            make("odd", {"replicas": [EVIL]}, {"conditions": EVIL}),
        ):
            await _create_when_served(door, obj)

        for define in ROLE_INSTANCE_SET.definitions:
            await door.create(DEFINITION, "", define())
        await _create_when_served(door, make_instance_set(), INSTANCE_SET)


def make_instance_set() -> Object:
    """The definition as we ship it says nothing of what stands in a template of a component."""
    component = {"name": "a", "template": {"spec": {"containers": [5]}}}
    spec = {"roleInstanceTemplate": {"components": [component]}}
    head = {"apiVersion": INSTANCE_SET.api_version, "kind": INSTANCE_SET.name}
    return {**head, "metadata": {"name": "open"}, "spec": spec}


async def _create_when_served(door: Any, obj: Object, kind: Kind = KIND) -> None:
    from kohort.cluster.errors import NotFound

    async with asyncio.timeout(20):
        while True:
            try:
                await door.create(kind, "default", obj)
            except NotFound:
                await asyncio.sleep(0.05)
            else:
                return


@pytest.fixture(scope="module")
def kubeconfig() -> Iterator[Path]:
    with start_cluster(nodes=1) as cluster:
        asyncio.run(fill(cluster.kubeconfig))
        yield cluster.kubeconfig


@pytest.fixture
def kohort(run_kohort: RunKohort, kubeconfig: Path, monkeypatch: pytest.MonkeyPatch) -> RunKohort:
    monkeypatch.setenv("KUBECONFIG", str(kubeconfig))
    return run_kohort


def is_harmless(told: Told) -> bool:
    text = told.out + told.err
    return text.replace("\n", "").isprintable() and "Traceback" not in text


def test_every_object_has_its_row_and_only_the_bad_ones_are_stalled(kohort: RunKohort):
    told = kohort("get", "-o", "wide")
    lines = told.out.splitlines()
    assert told.code == 0 and is_harmless(told)
    assert [line.split()[1] for line in lines[1:]] == ["bare", "good", "liar", "odd", "open"]
    assert all("stalled: Malformed" in lines[number] for number in (1, 4, 5))
    assert "stalled" not in lines[2]


def test_json_holds_what_was_written_and_nothing_that_a_terminal_obeys(kohort: RunKohort):
    for words in (("get", "-o", "json"), ("why", "lws/liar", "-o", "json")):
        told = kohort(*words)
        assert is_harmless(told)
        assert EVIL in json.dumps(json.loads(told.out), ensure_ascii=False).replace(
            "\\u001b", "\x1b"
        ).replace("\\u0007", "\x07").replace("\\n", "\n")


@pytest.mark.parametrize("name", ["bare", "odd"])
def test_why_says_what_is_malformed(kohort: RunKohort, name: str):
    told = kohort("why", f"lws/{name}")
    assert told.code == 4 and is_harmless(told)
    assert "Malformed: spec" in told.out


def test_a_template_of_which_the_definition_says_nothing_is_malformed(kohort: RunKohort):
    told = kohort("why", "ris/open")
    assert told.code == 4 and is_harmless(told)
    place = "spec.roleInstanceTemplate.components[0].template.spec.containers[0]"
    assert f"Malformed: {place} must be a mapping, not 5" in " ".join(told.out.split())


def test_why_of_a_liar_spells_out_what_it_says(kohort: RunKohort):
    told = kohort("why", "lws/liar")
    assert is_harmless(told)
    assert "evil\\x1b]0;owned\\x07\\u202e:1\\nnext" in told.out


@pytest.mark.parametrize("name", ["bare", "odd", "liar"])
@pytest.mark.parametrize(
    "words",
    [
        ("get", "lws/{}"),
        ("get", "lws/{}", "--topology"),
        ("get", "lws/{}", "-o", "yaml"),
        ("rollout", "history", "lws/{}"),
        ("rollout", "status", "lws/{}", "--timeout", "0"),
        ("rollout", "restart", "lws/{}", "--dry-run"),
        ("rollout", "undo", "lws/{}", "--dry-run"),
        ("rollout", "pause", "lws/{}", "--dry-run"),
        ("rollout", "resume", "lws/{}", "--dry-run"),
        ("sim", "topology"),
    ],
)
def test_every_command_ends_with_a_sentence(kohort: RunKohort, name: str, words: tuple[str, ...]):
    told = kohort(*(word.format(name) for word in words))
    assert told.code in (0, 1, 3, 4)
    assert is_harmless(told)
    assert told.out or told.err.startswith("error: ")


def test_steering_a_malformed_object_says_what_to_do(kohort: RunKohort):
    told = kohort("rollout", "restart", "lws/bare")
    assert (told.code, told.err) == (
        1,
        "error: lws/bare is malformed: spec is missing; mend or delete it\n",
    )
