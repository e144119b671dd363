"""A real control plane for the whole run, with the operator's manifests applied."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from audit_log import AuditLog
from operator_processes import Service, install

from control_plane import ControlPlane, real_plane


def pytest_addoption(parser: pytest.Parser) -> None:
    text = (
        "try every sample of ModelServing and RoleBasedGroup, every LeaderWorkerSet that is "
        "converted and a dozen of InferenceService, not two or three of each; and takeovers from "
        "all controllers, with every recording"
    )
    parser.addoption("--all-samples", action="store_true", help=text)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Rehearse takeovers, which takes minutes, only where all samples are tried."""
    names = (
        "test_real_takeover.py",
        "test_real_takeover_services.py",
        "test_real_takeover_whole.py",
    )
    is_long = collection_path.name in names
    return True if is_long and not config.getoption("all_samples", default=False) else None


@pytest.fixture
def is_thorough(request: pytest.FixtureRequest) -> bool:
    """Whether all samples are asked for."""
    return bool(request.config.getoption("all_samples", default=False))


@dataclass(frozen=True, slots=True)
class Site:
    """Where the operator is to work."""

    plane: ControlPlane
    service: Service  # where the API server calls webhooks
    kubeconfig: Path  # of the operator's account
    audit: AuditLog


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with open_site(tmp_path_factory.mktemp("real") / "plane") as found:
        yield found


@contextmanager
def open_site(folder: Path) -> Iterator[Site]:
    """A control plane with the operator's definitions and roles, until the block ends."""
    with real_plane(folder, "--ready-ms", "2000", "--gone-ms", "500") as plane:
        service = Service()
        yield Site(plane, service, install(plane, service.url), AuditLog(plane.audit))
        service.close()
