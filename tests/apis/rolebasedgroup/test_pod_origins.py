"""Which stored template a pod was made from whose hash another client changed."""

from typing import Any

import orjson
import pytest

from kohort.apis.rolebasedgroup import labels
from kohort.apis.rolebasedgroup.instance_facts import read_facts
from kohort.apis.rolebasedgroup.pod_facts import RolePod, read_pod
from kohort.apis.rolebasedgroup.pod_origins import find_origin
from kohort.apis.rolebasedgroup.put_back import has_lost_hash
from kohort.apis.rolebasedgroup.revision import StoredRevision
from kohort.apis.rolebasedgroup.role_facts import RoleFacts
from kohort.cluster.objects import Object

MODE, OTHER = {"name": "MODE", "value": "1"}, {"name": "OTHER", "value": "1"}


def template(*env: Object, notes: Object | None = None, **container: Any) -> Object:
    made = {"name": "engine", "image": "engine:1", "env": list(env), **container}
    return {"metadata": {"annotations": notes or {}}, "spec": {"containers": [made]}}


def components(held: Object) -> list[Object]:
    return [{"name": "engine", "size": 1, "template": held}]


def role(*held: Object) -> RoleFacts:
    """A role whose stored revisions are ``x-1`` and so on, of which the last is the target."""
    stored = [
        StoredRevision(
            f"x-{number}",
            str(number),
            number,
            {"spec": {"roleInstanceTemplate": {"components": components(each)}}},
        )
        for number, each in enumerate(held, 1)
    ]
    objects: Any = None
    wanted = {"spec": {"roleInstanceTemplate": {"components": components(held[-1])}}}
    return RoleFacts(objects, wanted, "", stored[-1].name, True, tuple(stored))


def pod(held: Object) -> RolePod:
    metadata = {**held["metadata"], "name": "x-engine-0"}
    return read_pod(orjson.dumps({"metadata": metadata, "spec": held["spec"]}))


def origin_of(
    *held: Object, made: Object, ready: str = "False", observed: int = 2
) -> Object | None:
    """The template of a pod of an instance of the last revision; None: that of its instance."""
    status = {
        "observedGeneration": observed,
        "updateRevision": f"x-{len(held)}",
        "conditions": [{"type": "RoleInstanceReady", "status": ready}],
    }
    marks = {labels.REVISION: f"x-{len(held)}"}
    instance = read_facts(
        orjson.dumps(
            {
                "metadata": {"name": "x", "generation": 2, "labels": marks},
                "spec": {"components": components(held[-1])},
                "status": status,
            }
        )
    )
    found = find_origin(role(*held), instance, pod(made))
    assert has_lost_hash(role(*held), instance, pod(made)) == (found is None)
    return found["template"] if found else None


@pytest.mark.parametrize(
    ("former", "made"),
    [
        (template(MODE), template(MODE)),
        (template(notes={"note": "1"}), template(notes={"note": "1"})),
        (template(workingDir="/a"), template(workingDir="/a")),
    ],
)
def test_a_pod_with_what_a_former_template_names_was_made_from_it(former: Object, made: Object):
    assert origin_of(former, template(workingDir="/b"), made=made) == former


def test_a_container_that_the_user_took_away_tells():
    former, made = template(), template()
    former["spec"]["containers"].append({"name": "side", "image": "side:1"})
    assert origin_of(former, made, made=former) == former
    assert origin_of(former, made, made=made) is None


def test_of_two_former_templates_a_pod_was_made_from_the_one_that_it_has_more_of():
    former = template(MODE, OTHER)
    assert origin_of(former, template(MODE), template(), made=former) == former
    assert origin_of(template(MODE), former, template(), made=former) == former


def test_a_pod_of_the_template_of_its_instance_was_made_from_no_other():
    assert origin_of(template(), template(MODE), made=template(MODE)) is None
    assert origin_of(template(OTHER), template(MODE), made=template(MODE)) is None
    # The API server adds what neither template names.
    asked = {"imagePullPolicy": "IfNotPresent", "resources": {"requests": {"cpu": "1"}}}
    assert origin_of(template(**asked), template(), made=template(**asked)) is None


def test_what_a_webhook_adds_counts_only_until_the_instance_was_ready():
    held = (template(MODE), template())
    assert origin_of(*held, made=template(MODE), ready="True") is None
    assert origin_of(*held, made=template(MODE), ready="True", observed=1) == template(MODE)
    assert origin_of(*held, made=template(MODE)) == template(MODE)
