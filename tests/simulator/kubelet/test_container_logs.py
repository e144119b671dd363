"""Logs are told from the status, so they are the same for every reader."""

from test_pod_life import bound, start

from kohort.simulator.kubelet import render_log


def texts(lines: list | None) -> list[str]:
    assert lines is not None
    return [text for _, text in lines]


def test_a_container_that_waits_has_no_log():
    assert render_log(start(bound(), 0).pod("p"), "main") is None


def test_a_ready_container_tells_of_its_start():
    world = start(bound(requests={"nvidia.com/gpu": "1"}), 10)
    lines = render_log(world.pod("p"), "main")
    assert texts(lines)[0] == "container main started from image server:1"
    assert "weights loaded in 3s" in " ".join(texts(lines)) or "loading weights" in texts(lines)
    assert texts(lines)[-1] == "ready, serving requests"
    assert lines == sorted(lines or [], key=lambda line: line[0])


def test_the_run_before_a_crash_can_be_read():
    world = start(bound(annotations={"crash-after": "5s", "crash-exit-code": "7"}), 9)
    pod = world.pod("p")
    assert texts(render_log(pod, "main", previous=True))[-1] == "fatal: exiting with code 7"
    assert "fatal" not in " ".join(texts(render_log(pod, "main")))


def test_an_unknown_container_has_no_log():
    assert render_log(start(bound(), 9).pod("p"), "nobody") is None
