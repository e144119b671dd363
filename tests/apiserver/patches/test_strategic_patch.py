"""Strategic merge patches on a deployment: the answers are those of a real API server."""

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from patching_builders import a_deployment, deployment_shape

from kohort.cluster.errors import BadRequest, ClusterError
from kohort.cluster.strategic_merge import apply_strategic_patch

SHAPE = deployment_shape()


def patched(patch: Any) -> dict[str, Any]:
    return apply_strategic_patch(a_deployment(), patch, SHAPE)


def pod(*containers: Any, **rest: Any) -> dict[str, Any]:
    return {"spec": {"template": {"spec": {"containers": list(containers), **rest}}}}


def images(patch: Any) -> list[str]:
    containers = patched(patch)["spec"]["template"]["spec"]["containers"]
    return [f"{container['name']}={container['image']}" for container in containers]


def refusal(patch: Any) -> ClusterError:
    with pytest.raises(ClusterError) as caught:
        patched(patch)
    return caught.value


@pytest.mark.parametrize(
    ("patch", "expected"),
    [
        (pod({"name": "b", "image": "b2"}), "a=a b=b2 c=c"),
        (pod({"name": "c", "$patch": "delete"}), "a=a b=b"),
        (pod({"$patch": "replace"}, {"name": "z", "image": "z"}), "z=z"),
        (pod({"name": "n", "image": "n"}), "n=n a=a b=b c=c"),
        (
            pod({"name": "c", "image": "9"}, {"name": "n", "image": "n"}, {"name": "a"}),
            "b=b c=9 n=n a=a",
        ),
        (
            pod(
                {"name": "b", "image": "9"},
                **{"$setElementOrder/containers": [{"name": "c"}, {"name": "b"}, {"name": "a"}]},
            ),
            "c=c b=9 a=a",
        ),
    ],
)
def test_containers_are_merged_by_name(patch: Any, expected: str) -> None:
    assert images(patch) == expected.split()


def test_an_order_alone_moves_entries() -> None:
    order = {"$setElementOrder/containers": [{"name": "c"}, {"name": "a"}]}
    assert images({"spec": {"template": {"spec": order}}}) == ["b=b", "c=c", "a=a"]


@pytest.mark.parametrize(
    ("patch", "expected"),
    [
        ({"finalizers": ["x.y/z", "d.e/f"]}, ["x.y/z", "a.b/c", "d.e/f"]),
        ({"$deleteFromPrimitiveList/finalizers": ["a.b/c"]}, ["d.e/f"]),
        ({"$deleteFromPrimitiveList/finalizers": "a.b/c"}, ["a.b/c", "d.e/f"]),
        (
            {"finalizers": ["x.y/z"], "$setElementOrder/finalizers": ["x.y/z", "a.b/c"]},
            ["x.y/z", "a.b/c", "d.e/f"],
        ),
        ({"finalizers": None}, None),
    ],
)
def test_lists_of_scalars_are_joined(patch: Any, expected: Any) -> None:
    assert patched({"metadata": patch})["metadata"].get("finalizers") == expected


def test_entries_of_entries_are_merged_and_deleted() -> None:
    env = [{"name": "B", "$patch": "delete"}, {"name": "D", "value": "4"}]
    container = patched(pod({"name": "a", "env": env}))["spec"]["template"]["spec"]["containers"][0]
    assert container["env"] == [{"name": "D", "value": "4"}, {"name": "A", "value": "1"}]
    assert container["image"] == "a"


def test_an_entry_that_is_new_carries_no_directives() -> None:
    volumes = [{"name": "v", "emptyDir": {}}, {"name": "w", "$patch": "delete"}]
    spec = patched({"spec": {"template": {"spec": {"volumes": volumes}}}})["spec"]["template"]
    assert spec["spec"]["volumes"] == [{"name": "v", "emptyDir": {}}]


@pytest.mark.parametrize(
    "strategy",
    [{"$retainKeys": ["type"], "type": "Recreate"}, {"$patch": "replace", "type": "Recreate"}],
)
def test_a_strategy_drops_what_the_patch_does_not_keep(strategy: Any) -> None:
    assert patched({"spec": {"strategy": strategy}})["spec"]["strategy"] == {"type": "Recreate"}


@pytest.mark.parametrize(
    ("patch", "message"),
    [
        (
            pod({"image": "b2"}),
            "map: map[image:b2] does not contain declared merge key: name",
        ),
        (
            pod({"$patch": "delete"}),
            "map: map[$patch:delete] does not contain declared merge key: name",
        ),
        (pod({"$patch": "merge"}), "merging lists cannot yet be specified in the patch"),
        (
            pod({"$patch": "foo", "name": "a"}),
            "unknown patch type: foo in map: map[$patch:foo name:a]",
        ),
        (
            {"spec": {"strategy": {"$patch": "merge", "type": "Recreate"}}},
            "unknown patch type: merge in map: map[$patch:merge type:Recreate]",
        ),
        (
            pod(
                {"name": "b", "image": "b9"},
                {"name": "a"},
                **{"$setElementOrder/containers": [{"name": "a"}, {"name": "b"}]},
            ),
            "The order in patch list:\n[map[image:b9 name:b] map[name:a]]\n"
            " doesn't match $setElementOrder list:\n[map[name:a] map[name:b]]\n",
        ),
        (
            {"spec": {"template": {"spec": {"$setElementOrder/containers": "x"}}}},
            "expected a []interface {}, but received a string",
        ),
        (
            pod({"name": "a", "ports": [{"name": "foo"}]}),
            "map: map[name:foo] does not contain declared merge key: containerPort",
        ),
    ],
)
def test_a_patch_that_cannot_be_merged_fails_without_a_reason(patch: Any, message: str) -> None:
    status = refusal(patch).status()
    assert (status["code"], status["message"]) == (500, message)
    assert "reason" not in status


@pytest.mark.parametrize(
    ("patch", "what"),
    [
        ({"metadata": {"$deleteFromPrimitiveList": ["a.b/c"]}}, "primitive list"),
        ({"spec": {"strategy": {"$retainKeys": "type", "type": "x"}}}, "retainKeys"),
        ({"spec": {"strategy": {"$retainKeys": ["a"], "type": "x"}}}, "retainKeys"),
    ],
)
def test_a_malformed_directive_is_a_bad_request(patch: Any, what: str) -> None:
    error = refusal(patch)
    assert isinstance(error, BadRequest)
    assert error.message == f"invalid patch format of {what}"


def test_a_list_for_a_patch_is_a_bad_request() -> None:
    assert "cannot unmarshal array into Go value" in refusal([1]).message


NAMES = st.lists(st.sampled_from("abcdef"), unique=True, max_size=5)


def containers(names: list[str], image: str) -> list[dict[str, str]]:
    return [{"name": name, "image": image} for name in names]


@given(NAMES, NAMES)
def test_each_name_ends_up_once_and_the_patch_wins(old: list[str], new: list[str]) -> None:
    obj = pod(*containers(old, "old"))
    before = copy.deepcopy(obj)
    result = apply_strategic_patch(obj, pod(*containers(new, "new")), SHAPE)
    found = result["spec"]["template"]["spec"]["containers"]
    assert {c["name"]: c["image"] for c in found} == {
        **dict.fromkeys(old, "old"),
        **dict.fromkeys(new, "new"),
    }
    assert len(found) == len({*old, *new})
    assert [c["name"] for c in found if c["name"] in new] == new
    assert [c["name"] for c in found if c["name"] not in new] == [n for n in old if n not in new]
    assert obj == before
