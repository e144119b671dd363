"""The router of a service: its variables and its service account."""

from isvc_builders import model, planned, runtime, service

from kohort.cluster.kinds import DEPLOYMENT


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
