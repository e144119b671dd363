"""One role of a RoleBasedGroup: patterns, labels, variables and rollout."""

from isvc_builders import PARTS, model, multi_node, planned, rbg, runtime

from kohort.apis.inferenceservice import kinds
from kohort.apis.pod_templates import merge_template


def role(obj, *held, place: int = 0) -> dict:
    return planned(obj, *held).find(kinds.ROLE_BASED_GROUP, "chat")["spec"]["roles"][place]


def leader_worker(*notes) -> dict:
    obj = rbg(annotations=dict(notes))
    return role(obj, model(), multi_node())["leaderWorkerPattern"]


def worker_template(pattern: dict) -> dict:
    return merge_template(pattern["template"], pattern["workerTemplatePatch"])


def leader_template(pattern: dict) -> dict:
    return merge_template(pattern["template"], pattern["leaderTemplatePatch"])


def test_a_raw_component_is_a_standalone_role():
    found = role(rbg())
    assert "leaderWorkerPattern" not in found
    template = found["standalonePattern"]["template"]
    assert template["metadata"]["labels"] == found["labels"]
    assert found["labels"]["app"] == "chat-engine"
    assert found["labels"]["component"] == "engine"
    assert template["metadata"]["annotations"]["ome.io/serving-runtime"] == "srt"
    assert template["spec"]["containers"][0]["name"] == "ome-container"


def test_a_role_is_scaled_by_its_adapter_and_rolls_in_place():
    found = role(rbg())
    assert found["scalingAdapter"] == {"enable": True}
    assert found["rolloutStrategy"] == {
        "type": "RollingUpdate",
        "rollingUpdate": {"type": "InPlaceIfPossible"},
    }


def test_the_user_may_choose_how_a_role_rolls():
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 2, "maxUnavailable": "10%"}}
    obj = rbg(
        engine={"deploymentStrategy": strategy},
        annotations={"kohort.dev/rolling-update-type": "RecreatePod"},
    )
    assert role(obj)["rolloutStrategy"]["rollingUpdate"] == {
        "type": "RecreatePod",
        "maxUnavailable": "10%",
        "maxSurge": 2,
    }


def test_a_multi_node_component_is_a_leader_with_workers():
    pattern = leader_worker()
    assert pattern["size"] == 4
    assert pattern["restartPolicyConfig"] == {"type": "RecreateRoleInstanceOnPodRestart"}
    assert leader_template(pattern)["spec"]["containers"][0]["image"] == "engine:1"
    assert worker_template(pattern)["spec"]["containers"][0]["image"] == "worker:1"


def test_leaders_bear_the_labels_that_routers_select_and_workers_do_not():
    pattern = leader_worker()
    leader = leader_template(pattern)["metadata"]["labels"]
    worker = worker_template(pattern)["metadata"]["labels"]
    assert leader["leaderworkerset.sigs.k8s.io/worker-index"] == "0"
    assert leader["ray.io/node-type"] == "head"
    assert leader["app"] == "chat-engine"
    for key in ("leaderworkerset.sigs.k8s.io/worker-index", "ray.io/node-type", "app"):
        assert key not in worker
    for labels in (leader, worker):
        assert labels["ome.io/inferenceservice"] == "chat"
        assert labels["component"] == "engine"


def test_nothing_of_a_leader_leaks_into_its_workers():
    leader = {
        **PARTS["leader"],
        "containers": [{"name": "side"}],
        "hostNetwork": True,
        "volumes": [{"name": "only-leader", "emptyDir": {}}],
    }
    held = runtime(engineConfig={"leader": leader, "worker": PARTS["worker"]})
    worker = worker_template(role(rbg(), model(), held)["leaderWorkerPattern"])["spec"]
    assert [each["name"] for each in worker["containers"]] == ["ome-container"]
    assert "hostNetwork" not in worker
    assert [volume["name"] for volume in worker["volumes"]] == ["llama"]
    assert "command" not in worker["containers"][0]


def test_images_written_for_leader_worker_sets_find_their_variables_first():
    pattern = leader_worker()
    aliases = [
        {"name": "LWS_LEADER_ADDRESS", "value": "$(RBG_LWP_LEADER_ADDRESS)"},
        {"name": "LWS_GROUP_SIZE", "value": "$(RBG_LWP_GROUP_SIZE)"},
        {"name": "LWS_WORKER_INDEX", "value": "$(RBG_LWP_WORKER_INDEX)"},
    ]
    for template in (leader_template(pattern), worker_template(pattern)):
        assert template["spec"]["containers"][0]["env"][:3] == aliases
    standalone = role(rbg())["standalonePattern"]["template"]["spec"]["containers"][0]
    assert not any(entry["name"].startswith("LWS_") for entry in standalone["env"])


def test_a_runner_of_workers_with_a_name_of_its_own_finds_the_variables_too():
    runner = {"name": "worker", "image": "worker:1"}
    worker = {"size": 1, "runner": runner, "containers": [{"name": "side", "image": "s"}]}
    held = runtime(engineConfig={"leader": PARTS["leader"], "worker": worker})
    pattern = role(rbg(), model(), held)["leaderWorkerPattern"]
    for container in worker_template(pattern)["spec"]["containers"]:
        assert container["env"][0]["name"] == "LWS_LEADER_ADDRESS", container["name"]
    side, engine = ({"name": name, "image": "i"} for name in ("side", "ome-container"))
    leader = {"runner": engine, "containers": [side]}
    held = runtime(engineConfig={"leader": leader, "worker": worker})
    pattern = role(rbg(), model(), held)["leaderWorkerPattern"]
    assert "env" not in leader_template(pattern)["spec"]["containers"][0]


def test_a_variable_that_the_user_sets_is_no_alias():
    own = {"leader": {"runner": {"env": [{"name": "LWS_GROUP_SIZE", "value": "9"}]}}}
    pattern = role(rbg(engine=own), model(), multi_node())["leaderWorkerPattern"]
    env = leader_template(pattern)["spec"]["containers"][0]["env"]
    assert [e["value"] for e in env if e["name"] == "LWS_GROUP_SIZE"] == ["9"]


def test_a_multi_node_component_without_workers_is_a_group_of_one():
    held = runtime(engineConfig={"leader": PARTS["leader"]})
    pattern = role(rbg(), model(), held)["leaderWorkerPattern"]
    assert pattern["size"] == 1
    assert "workerTemplatePatch" not in pattern


def test_workers_are_not_scraped():
    pattern = leader_worker(("prometheus.io/port", "9090"), ("team", "a"))
    assert leader_template(pattern)["metadata"]["annotations"]["prometheus.io/port"] == "9090"
    worker = worker_template(pattern)["metadata"]["annotations"]
    assert "prometheus.io/port" not in worker
    assert worker["team"] == "a"


def test_labels_name_the_queue():
    found = role(rbg(annotations={"ome.io/volcano-queue": "fast"}))
    template = found["standalonePattern"]["template"]
    assert template["metadata"]["labels"]["volcano.sh/queue-name"] == "fast"


def test_annotations_that_concern_other_objects_are_not_on_pods():
    notes = {"ome.io/autoscalerClass": "external", "ome.io/ingress-domain": "x.org"}
    found = role(rbg(annotations=notes))
    assert not set(notes) & set(found["standalonePattern"]["template"]["metadata"]["annotations"])
    assert not set(notes) & set(found["annotations"])


def test_a_router_is_a_standalone_role_with_an_account():
    found = role(rbg(router={}), place=1)
    assert found["name"] == "router"
    assert found["standalonePattern"]["template"]["spec"]["serviceAccountName"] == "chat-router"
