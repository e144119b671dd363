"""Taking over what upstream's controller left behind, from objects that are written by hand."""

import pytest
from operator_lab import Lab
from test_takeover_runs import add_nodes, by_uid, load

from kohort.cluster import kinds
from upstream_objects import KEY, UNIQUE, Upstream, read_vector

SAMPLES = {
    "one template": "11_lws",
    "two templates and labels": "01_leaderworkerset_multi_template",
    "surge": "09_lws-rollout-strategy",
    "exclusive topology": "06_lws-exclusive-placement",
    "end-to-end sample": "00_e2e_default",
}


def make(sample: str) -> Upstream:
    return Upstream(read_vector(SAMPLES[sample]))


async def open_lab(upstream: Upstream, objects: list) -> Lab:
    """A cluster in which only the operator acts: pods stay as they are."""
    lab = await Lab().open(operator=False)
    lab.namespace = upstream.namespace
    await add_nodes(lab, objects)
    load(lab, objects)
    for runner in lab.world.runners:
        lab.hold_component(runner)
    return lab


@pytest.mark.parametrize("sample", SAMPLES)
async def test_a_workload_at_rest_is_taken_over_without_a_write(sample: str):
    upstream = make(sample)
    lab = await open_lab(upstream, upstream.at_rest())
    before = by_uid(lab)
    lab.start_operator()
    await lab.run(600)
    assert dict(lab.cluster.tried) == {}
    assert by_uid(lab) == before
    await lab.close()


async def test_groups_with_services_of_their_own_are_taken_over_without_a_write():
    vector = read_vector("11_lws")
    # The policy is part of the revision, so the key is another: the set's label names it.
    vector["input"]["spec"]["networkConfig"]["subdomainPolicy"] = UNIQUE
    vector["patch_bytes"] = vector["patch_bytes"].replace('"Shared"', f'"{UNIQUE}"')
    vector["revision_key"] = "any"
    upstream = Upstream(vector)
    lab = await open_lab(upstream, upstream.at_rest())
    lab.start_operator()
    await lab.run(600)
    assert dict(lab.cluster.tried) == {}
    await lab.close()


async def test_a_rollout_that_upstream_began_goes_on_where_it_stands():
    """Three groups, of which at most one may be missing, and the third has just gone."""
    old = make("one template")
    vector = read_vector("11_lws")
    text = vector["patch_bytes"].replace(":1.27", ":1.28")
    vector |= {"patch_bytes": text, "revision_key": "next"}
    vector["input"]["spec"]["leaderWorkerTemplate"]["workerTemplate"]["spec"]["containers"][0][
        "image"
    ] = "nginxinc/nginx-unprivileged:1.28"
    new = Upstream(vector)
    objects = [new.lws, old.revision(), new.revision(), new.leader_set(partition=2)]
    objects += [new.service(new.name, new._owner()), *old.group(0), *old.group(1)]
    objects[0]["metadata"]["generation"] = 2
    lab = await open_lab(new, objects)
    lab.start_operator()
    await lab.run(60)
    assert partition(lab) == 2
    assert ("delete", "Pod") not in lab.cluster.tried
    load(lab, new.group(2))
    await lab.run(60)
    assert partition(lab) == 1
    leaders = [pod for pod in lab.all(kinds.POD) if pod["metadata"]["name"].count("-") == 2]
    assert {pod["metadata"]["labels"][KEY] for pod in leaders} == {old.key, new.key}
    await lab.close()


def partition(lab: Lab) -> int:
    found = lab.find(kinds.STATEFUL_SET, "leaderworkerset-sample")
    assert found is not None
    return int(found["spec"]["updateStrategy"]["rollingUpdate"]["partition"])
