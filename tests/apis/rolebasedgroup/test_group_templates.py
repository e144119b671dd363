"""Pod templates of roles: variables in order, config, exclusive places, profiles, two styles."""

from group_builders import component, components, group, leader_worker, standalone, template
from group_contexts import container_of, contexts_of, set_of, template_of

from kohort.apis.rolebasedgroup import labels
from kohort.apis.rolebasedgroup.objects.config import make_config_map, write_config, write_listed
from kohort.apis.rolebasedgroup.objects.instances import make_instance, make_stateless_instance
from kohort.apis.rolebasedgroup.objects.runtimes import describe_missing, rolls_with_profile
from kohort.apis.rolebasedgroup.objects.templates import is_made_by_us
from kohort.apis.rolebasedgroup.revision import hash_set
from kohort.cluster.objects import Object, annotations_of, labels_of

P = "rbg.workloads.x-k8s.io/"
COMMON = ["RBG_COMPONENT_INDEX", "RBG_COMPONENT_NAME", "RBG_GROUP_NAME", "RBG_ROLE_INDEX"]
COMMON += ["RBG_ROLE_INSTANCE_NAME", "RBG_ROLE_NAME"]
PAIR = ["RBG_LWP_LEADER_ADDRESS", "RBG_LWP_WORKER_INDEX", "RBG_LWP_GROUP_SIZE"]


def names_of(container: Object) -> list[str]:
    return [variable["name"] for variable in container["env"]]


def value_of(container: Object, name: str) -> Object:
    return next(variable for variable in container["env"] if variable["name"] == name)


def with_env(*env: Object) -> Object:
    container = {"name": "engine", "image": "engine:1", "env": list(env)}
    return {"template": {"spec": {"containers": [container]}}}


def test_variables_stand_in_upstreams_order():
    users = [{"name": "A", "value": "1"}, {"name": "RBG_LWP_MINE"}, {"name": "RBG_MINE"}]
    found = group(leader_worker("engine", **with_env(*users)))
    made = container_of(found, "engine", is_ours=False)
    assert names_of(made) == ["RBG_MINE", *COMMON, *PAIR, "RBG_LWP_MINE", "A"]
    address = value_of(made, "RBG_LWP_LEADER_ADDRESS")["value"]
    assert address == "$(RBG_ROLE_INSTANCE_NAME)-0.s-m1-engine.ns1"
    path = value_of(made, "RBG_ROLE_INDEX")["valueFrom"]["fieldRef"]["fieldPath"]
    assert path == f"metadata.labels['{P}role-instance-index']"


def test_our_variables_override_the_users_and_of_two_equal_ones_the_last_counts():
    users = [{"name": "RBG_ROLE_NAME", "value": "x"}, {"name": "A", "value": "1"}]
    users.append({"name": "A", "value": "2"})
    found = group({"name": "a", "standalonePattern": with_env(*users)})
    made = container_of(found, "a", is_ours=False)
    assert names_of(made) == [*COMMON, "A"]
    assert value_of(made, "A")["value"] == "2"
    assert value_of(made, "RBG_ROLE_NAME")["value"] == "a"


def test_variables_of_former_versions_are_there_and_the_users_own_win():
    mine = {"name": "GROUP_NAME", "value": "mine"}
    made = container_of(group({"name": "a", "standalonePattern": with_env(mine)}), "a")
    assert value_of(made, "ROLE_NAME") == {"name": "ROLE_NAME", "value": "a"}
    assert value_of(made, "GROUP_NAME") == mine
    assert names_of(made).count("GROUP_NAME") == 1


def test_init_containers_get_no_variables():
    pod = {"containers": [{"name": "a"}], "initContainers": [{"name": "b"}]}
    found = group({"name": "a", "standalonePattern": {"template": {"spec": pod}}})
    assert "env" not in template_of(found, "a")["spec"]["initContainers"][0]


def test_a_deployment_has_no_index_and_no_config():
    notes = {labels.WORKLOAD_TYPE: "apps/v1/Deployment"}
    made = template_of(group(standalone("a", annotations=notes)), "a", is_ours=False)
    assert names_of(made["spec"]["containers"][0]) == ["RBG_GROUP_NAME", "RBG_ROLE_NAME"]
    assert "volumes" not in made["spec"]


def test_a_config_volume_of_the_user_is_left_alone():
    pod = {"containers": [{"name": "a"}], "volumes": [{"name": "rbg-cluster-config"}]}
    found = group({"name": "a", "standalonePattern": {"template": {"spec": pod}}})
    assert template_of(found, "a")["spec"]["volumes"] == [{"name": "rbg-cluster-config"}]


def test_pods_start_without_the_config_map_5():
    """Defect 5: in legacy mode upstream mounts a ConfigMap that it never makes."""
    found = group(standalone("a"), notes={labels.DISCOVERY_MODE: "legacy"})
    volume = template_of(found, "a")["spec"]["volumes"][0]
    assert volume["configMap"]["optional"] is True
    assert make_config_map(found, contexts_of(found)) is not None


def test_pods_of_an_exclusive_group_carry_the_label_that_their_affinity_names_1():
    """Defect 1: without the label no pod of the group can ever be placed."""
    found = group(standalone("a"), notes={labels.EXCLUSIVE_TOPOLOGY: "rack"})
    made = template_of(found, "a")
    terms = made["spec"]["affinity"]["podAffinity"][
        "requiredDuringSchedulingIgnoredDuringExecution"
    ]
    wanted = terms[0]["labelSelector"]["matchExpressions"][0]
    assert wanted == {"key": P + "group-unique-hash", "operator": "In", "values": wanted["values"]}
    assert labels_of(made)[P + "group-unique-hash"] == wanted["values"][0]
    assert annotations_of(made)[labels.EXCLUSIVE_TOPOLOGY] == "rack"


def test_a_role_may_be_left_out_of_exclusive_places():
    role = standalone("a")
    role["standalonePattern"]["template"]["metadata"] = {
        "annotations": {labels.DISABLE_EXCLUSIVE: "true"}
    }
    made = template_of(group(role, notes={labels.EXCLUSIVE_TOPOLOGY: "rack"}), "a")
    assert "affinity" not in made["spec"]


def test_the_former_key_of_exclusive_places_counts_unless_upstream_made_the_set():
    found = group(standalone("a"), notes={labels.OLD_EXCLUSIVE_TOPOLOGY: "rack"})
    assert "affinity" in template_of(found, "a")["spec"]
    assert "affinity" not in template_of(found, "a", is_ours=False)["spec"]


def test_a_set_keeps_its_style_for_as_long_as_it_lives():
    found = group(standalone("a"))
    ours, theirs = set_of(found, "a"), set_of(found, "a", is_ours=False)
    assert is_made_by_us(None) and is_made_by_us(ours)
    assert not is_made_by_us(theirs)
    assert hash_set(ours) != hash_set(theirs)
    added = {"GROUP_NAME", "ROLE_NAME", "ROLE_INDEX"}
    assert not added & set(names_of(container_of(found, "a", is_ours=False)))


def test_gangs_mark_pods_in_the_words_of_their_scheduler():
    found = group(standalone("a"), notes={labels.GANG: "true"})
    plugins = template_of(found, "a", gang_scheduler="scheduler-plugins")
    assert labels_of(plugins)["pod-group.scheduling.sigs.k8s.io/name"] == "m1"
    volcano = template_of(found, "a", gang_scheduler="volcano")
    assert annotations_of(volcano)["scheduling.k8s.io/group-name"] == "m1"


PROFILE = {
    "spec": {
        "initContainers": [{"name": "init"}],
        "containers": [{"name": "side", "args": ["a"]}, {"name": "engine"}],
        "volumes": [{"name": "lib", "emptyDir": {}}],
    }
}


def with_runtime(**more) -> Object:
    runtime = {"profileName": "p", "containers": [{"name": "side", "args": ["b"]}], **more}
    return group(standalone("a", engineRuntimes=[runtime]))


def test_a_profile_is_injected_beside_what_is_there():
    spec = template_of(with_runtime(), "a", profiles={"p": PROFILE})["spec"]
    assert [c["name"] for c in spec["containers"]] == ["engine", "side"]
    assert spec["containers"][1]["args"] == ["a", "b"]
    assert "RBG_ROLE_NAME" in names_of(spec["containers"][1])
    assert [c["name"] for c in spec["initContainers"]] == ["init"]
    assert {v["name"] for v in spec["volumes"]} == {"lib", "rbg-cluster-config"}


def test_a_profile_is_for_pods_that_have_the_containers_it_names_21():
    """Defect 21: injectContainers was ignored."""
    found = with_runtime(injectContainers=["other"])
    assert len(template_of(found, "a", profiles={"p": PROFILE})["spec"]["containers"]) == 1
    kept = template_of(found, "a", profiles={"p": PROFILE}, is_ours=False)
    assert len(kept["spec"]["containers"]) == 2
    assert rolls_with_profile({"spec": {"updateStrategy": "RollingUpdate"}})
    assert not rolls_with_profile(PROFILE)


def test_workers_get_no_runtime_and_a_missing_profile_is_said():
    runtime = {"profileName": "p"}
    found = group({**leader_worker("a"), "engineRuntimes": [runtime]})
    assert len(template_of(found, "a", 0, profiles={"p": PROFILE})["spec"]["containers"]) == 2
    assert len(template_of(found, "a", 1, profiles={"p": PROFILE})["spec"]["containers"]) == 1
    problem = describe_missing(contexts_of(found)[0].role, {})
    assert "'p', which does not exist" in problem


def test_components_bring_labels_annotations_and_services_of_their_own():
    mine = component("x", 2, serviceName="mine", labels={"l": "1"}, annotations={"n": "2"})
    made = set_of(group(components("a", mine, component("y"))), "a")
    first, second = made["spec"]["roleInstanceTemplate"]["components"]
    assert (first["serviceName"], second["serviceName"]) == ("mine", "s-m1-a")
    assert labels_of(first["template"])["l"] == "1"
    assert annotations_of(first["template"]) == {"n": "2"}
    assert labels_of(first["template"])[P + "component-size"] == "2"


def test_addresses_of_several_pods_are_those_that_pods_have_6():
    """Defect 6 (rbg#448): addresses of instances that no pod has."""
    shared = leader_worker("e", sharedServiceSelection="All")
    found = group(shared, components("c", component("x", 2), component("y")))
    text = write_config(found, contexts_of(found))
    for address in ("m1-e-0-0.s-m1-e", "m1-e-0-1.s-m1-e", "m1-c-0-x-1.s-m1-c", "m1-c-0-y-0.s-m1-c"):
        assert address in text
    old = write_config(found, contexts_of(found), as_upstream=True)
    assert write_listed(found, contexts_of(found), as_upstream=True) == old
    more = group(shared, components("c", component("x", 2), component("y"), replicas=2))
    assert write_listed(more, contexts_of(more), as_upstream=True) != old


def test_ports_have_keys_that_templates_can_use():
    ports = [{"name": "Http-Main", "port": 80}, {"port": 90}]
    found = group(standalone("a", replicas=2, servicePorts=ports))
    text = write_config(found, contexts_of(found))
    assert text.count("http_main: 80") == 2 and text.count("port90: 90") == 2
    assert "&id" not in text


def test_ordinals_are_written_again_whenever_an_instance_is_written_7():
    """Defect 7: an update in place drops the ordinals from templates."""
    first = set_of(group(standalone("a")), "a")
    second = set_of(group(standalone("a", image="engine:2")), "a")
    for made in (make_instance(first, 3, "r-1"), make_instance(second, 3, "r-2")):
        marks = labels_of(made["spec"]["components"][0]["template"])
        assert marks[P + "role-instance-index"] == "3"
        assert marks["statefulset.kubernetes.io/pod-name"] == "m1-a-3"


def test_instances_share_nothing():
    shared = set_of(group(standalone("a", replicas=2)), "a")
    made = [make_instance(shared, ordinal, "r") for ordinal in (0, 1)]
    found = [labels_of(m["spec"]["components"][0]["template"]) for m in made]
    assert [marks[P + "role-instance-index"] for marks in found] == ["0", "1"]
    made[0]["spec"]["components"][0]["template"]["spec"]["containers"].clear()
    for other in (made[1]["spec"], shared["spec"]["roleInstanceTemplate"]):
        assert other["components"][0]["template"]["spec"]["containers"]


def test_a_stateless_instance_has_an_owner_and_no_ordinal():
    notes = {labels.INSTANCE_PATTERN: "Stateless"}
    made = make_stateless_instance(
        set_of(group(standalone("a", annotations=notes)), "a"), "bcdfg", "m1-a-abc"
    )
    marks = labels_of(made)
    assert marks[P + "role-instance-owner"] == "uid-of-a"
    assert marks[P + "role-instance-id"] == "bcdfg"
    assert marks["controller-revision-hash"] == "abc"
    assert P + "role-instance-index" not in marks


def test_instances_take_over_annotations_that_concern_them():
    notes = {labels.IN_PLACE_SCHEDULING: "Preferred", "mine": "x"}
    update = {"rollingUpdate": {"inPlaceUpdateStrategy": {"gracePeriodSeconds": 5}}}
    found = group(standalone("a", annotations=notes, rolloutStrategy=update))
    made = make_instance(set_of(found, "a"), 0, "r")
    assert annotations_of(made) == {
        labels.IN_PLACE_SCHEDULING: "Preferred",
        labels.GRACE_PERIOD: "5",
    }
    assert labels.OWNER_UID in labels_of(made)


def test_a_template_is_written_as_go_writes_it():
    found = group({"name": "a", "standalonePattern": {"template": template(restartPolicy="")}})
    made = template_of(found, "a")["spec"]
    assert "restartPolicy" not in made
    assert made["containers"][0]["resources"] == {}
