"""A real Prometheus reads a real operator: every alert fires in its situation, and at rest none."""

import subprocess
from pathlib import Path

import pytest
from monitored_world import Monitored, monitored

from prometheus_driver import (
    ALERTS,
    Prometheus,
    find_program,
    read_rules,
    shorten,
    started_prometheus,
    until,
)

RULE_TESTS = Path(__file__).with_name("alert_rules.test.yaml")


def test_alerts_fire_after_their_time_and_not_before():
    program = find_program("promtool")
    assert program, "promtool is not on PATH: install Debian's package prometheus"
    told = subprocess.run(
        [program, "test", "rules", RULE_TESTS], capture_output=True, text=True, check=False
    )
    assert told.returncode == 0, told.stdout + told.stderr


def test_every_alert_is_tried_with_its_time():
    tried = RULE_TESTS.read_text()
    assert str(ALERTS.name) in tried
    assert [
        rule["alert"] for rule in read_rules() if f"alertname: {rule['alert']}" not in tried
    ] == []


@pytest.mark.slow
async def test_every_alert_fires_when_its_situation_is_there(tmp_path: Path):
    async with monitored() as world:
        await world.create_serving()
        rules = shorten(read_rules())
        async with started_prometheus(tmp_path, world.target, rules) as prometheus:
            await until(prometheus.is_scraping, lambda: "a scrape")
            await until(prometheus.is_quiet, lambda: "no alert at rest")
            fired = [await see_fire(prometheus, world, name) for name in SITUATIONS]
        assert sorted(fired) == sorted(rule["alert"] for rule in rules)


SITUATIONS = {
    "KohortManyRecoveries": Monitored.lose_pod,
    "KohortWorkloadBlocked": Monitored.roll_out_broken,
    "KohortCacheOutdated": Monitored.break_watches,
    "KohortPlansStopped": Monitored.hang_writes,
    "KohortNoLeader": Monitored.end,
}


async def see_fire(prometheus: Prometheus, world: Monitored, name: str) -> str:
    """Bring the situation about, and wait for the alert; its labels name the object."""
    firing: dict[str, object] = {}

    async def is_firing() -> bool:
        nonlocal firing
        if name == "KohortManyRecoveries":
            await SITUATIONS[name](world)
        firing = await prometheus.list_firing()
        return name in firing

    if name != "KohortManyRecoveries":
        await SITUATIONS[name](world)
    await until(is_firing, lambda: f"{name}; {sorted(firing)} fire")
    return name
