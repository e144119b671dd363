"""TPU slices with plugin `lws`: the variables that LeaderWorkerSet gives the hosts of a slice."""

from typing import Any

import pytest
from serving_builders import role, serving, template
from serving_pods import pod, try_pod, variables_of

from kohort.apis.modelserving.plugins.lws import find_subdomain
from kohort.apis.modelserving.spec import read_spec
from kohort.apis.tpu import HOSTS_MAX
from kohort.cluster.objects import Object, annotations_of

LWS = "leaderworkerset.sigs.k8s.io/"


def with_tpus() -> Object:
    found = template()
    found["spec"]["containers"][0]["resources"] = {"limits": {"google.com/tpu": "4"}}
    return found


def asked(config: Any = None, **templates: Object) -> Object:
    return serving(role(workers=2, **templates), plugins=[{"name": "lws", "config": config}])


def both() -> dict[str, Object]:
    return {"entryTemplate": with_tpus(), "workerTemplate": with_tpus()}


def test_all_hosts_of_an_instance_form_a_slice():
    found = dict(variables_of(pod(asked(**both()), 1)))
    hosts = [f"llama-0-serve-0-{n}.llama" for n in range(3)]
    assert found["TPU_WORKER_HOSTNAMES"] == ",".join(hosts)
    assert found["TPU_WORKER_ID"] == "1"
    assert found["TPU_NAME"] == "llama-0-serve-0-0"
    assert found["TPU_PROCESS_ADDRESSES"] == ",".join(f"{host}:8476" for host in hosts)
    assert found["TPU_PROCESS_PORT"] == "8476"


def test_an_entry_without_tpus_is_left_out():
    only_workers = asked(workerTemplate=with_tpus())
    found = dict(variables_of(pod(only_workers, 1)))
    assert found["TPU_WORKER_HOSTNAMES"] == "llama-0-serve-0-1.llama,llama-0-serve-0-2.llama"
    assert found["TPU_WORKER_ID"] == "0"
    assert "TPU_WORKER_ID" not in dict(variables_of(pod(only_workers)))
    assert LWS + "leader-requests-tpus" not in annotations_of(pod(only_workers, 1))
    assert annotations_of(pod(asked(**both()), 1))[LWS + "leader-requests-tpus"] == "true"


def test_hosts_that_call_each_other_by_name_have_a_subdomain():
    found = pod(asked(**both()), 2)["spec"]
    assert (found["hostname"], found["subdomain"]) == ("llama-0-serve-0-2", "llama")
    assert find_subdomain(read_spec(asked(**both()))) == "Shared"
    unique = asked({"subdomainPolicy": "UniquePerReplica"}, **both())
    assert find_subdomain(read_spec(unique)) == "UniquePerReplica"
    assert ".llama-0" in dict(variables_of(pod(unique, 2)))["TPU_WORKER_HOSTNAMES"]
    assert find_subdomain(read_spec(asked())) == ""


def test_tpus_of_a_role_out_of_scope_ask_for_no_subdomain():
    roles = (role("front", workers=1), role("slice", workers=1, **both()))
    for scope, policy in ((["front"], ""), (["slice"], "Shared"), ([], "Shared")):
        found = serving(*roles, plugins=[{"name": "lws", "scope": {"roles": scope}}])
        assert find_subdomain(read_spec(found)) == policy


def test_a_subgroup_is_a_slice():
    config = {"subGroupPolicy": {"subGroupSize": 2}}
    four = serving(role(workers=3, **both()), plugins=[{"name": "lws", "config": config}])
    found = [dict(variables_of(pod(four, index))) for index in range(4)]
    hosts = [each["TPU_WORKER_HOSTNAMES"] for each in found]
    first = "llama-0-serve-0-0.llama,llama-0-serve-0-1.llama"
    second = "llama-0-serve-0-2.llama,llama-0-serve-0-3.llama"
    assert hosts == [first, first, second, second]
    assert [each["TPU_WORKER_ID"] for each in found] == ["0", "1", "0", "1"]


def test_an_entry_in_no_subgroup_cannot_hold_tpus():
    config = {"subGroupPolicy": {"subGroupSize": 2, "subGroupPolicyType": "LeaderExcluded"}}
    assert str(try_pod(asked(config, **both()))) == (
        "plugin lws: an entry that is in no subgroup cannot ask for TPUs"
    )


def test_more_hosts_than_can_be_listed_are_a_failure():
    huge = serving(role(workers=HOSTS_MAX, **both()), plugins=[{"name": "lws"}])
    assert str(try_pod(huge)) == (
        "plugin lws: 10001 pods ask for TPUs, and at most 10000 hosts can be listed"
    )


@pytest.mark.parametrize("name", ["TPU_WORKER_HOSTNAMES", "TPU_WORKER_ID"])
def test_a_user_who_sets_them_has_the_last_word(name: str):
    own = with_tpus()
    own["spec"]["containers"][0]["env"] = [{"name": name, "value": "mine"}]
    found = variables_of(pod(asked(entryTemplate=own)))
    assert [pair for pair in found if pair[0].startswith("TPU_")] == [(name, "mine")]


def test_without_tpus_nothing_is_added():
    made = pod(asked(), 1)
    assert "hostname" not in made["spec"]
    assert not any(name.startswith("TPU_") for name, _ in variables_of(made))
