"""The router of a service: its variables and its service account."""

from isvc_builders import model, planned, runtime, service

from kohort.apis.inferenceservice import kinds
from kohort.cluster.kinds import DEPLOYMENT, SERVICE_ACCOUNT


def router_pod(router: dict, **config: dict) -> dict:
    held = runtime(routerConfig=config) if config else runtime()
    found = planned(service(router=router), model(), held).find(DEPLOYMENT, "chat-router")
    pod: dict = found["spec"]["template"]["spec"]
    return pod


def test_a_variable_that_runner_and_config_name_is_there_once_with_the_value_of_the_config():
    env = [{"name": "POLICY", "value": "random"}, {"name": "PORT", "value": "80"}]
    runner = {"name": "router", "image": "router:1", "env": env}
    pod = router_pod({"config": {"POLICY": "cache_aware", "LOG": "info"}}, runner=runner)
    assert pod["containers"][0]["env"] == [
        {"name": "POLICY", "value": "cache_aware"},
        {"name": "PORT", "value": "80"},
        {"name": "LOG", "value": "info"},
    ]


def test_the_former_field_of_a_service_account_names_it_too():
    plan = planned(service(router={"serviceAccount": "mine"}))
    pod = plan.find(DEPLOYMENT, "chat-router")["spec"]["template"]["spec"]
    assert (pod["serviceAccountName"], "serviceAccount" in pod) == ("mine", False)
    assert plan.find(kinds.ROLE_BINDING, "chat-router")["subjects"][0]["name"] == "mine"
    assert plan.find(SERVICE_ACCOUNT, "chat-router") is None


def test_a_runtimes_former_field_of_a_service_account_is_as_little_used_as_the_new_one():
    runner = {"name": "router", "image": "router:1"}
    pod = router_pod({}, runner=runner, serviceAccount="theirs")
    assert (pod["serviceAccountName"], "serviceAccount" in pod) == ("chat-router", False)
