"""
This is where the flags of ``kohort controller`` become an operator that runs.

Everything that can be wrong with the flags is found before the cluster is asked for anything.
"""

import argparse
import asyncio
import logging
import os
import socket
from dataclasses import replace
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

from kohort.apis.api import DEFAULTS, Settings
from kohort.apis.gangs.dialect import Dialect
from kohort.apis.home import name_holder
from kohort.apis.served import choose_apis
from kohort.cli.exits import Failure, UsageError
from kohort.cli.processes.signals import catch_signals
from kohort.cluster.errors import InternalError, KohortError, TimedOut, Unavailable
from kohort.cluster.http import HttpCluster, connect
from kohort.cluster.http.access.access import ACCOUNT, is_in_cluster
from kohort.controller.install.install import InstallOptions
from kohort.controller.install.names import NAMESPACE
from kohort.controller.process.configuration import (
    Configuration,
    check_configuration,
    place_pages,
    read_configuration,
)
from kohort.controller.process.gangs import choose_dialects, find_known, gather_tiers, has_usual
from kohort.controller.process.process import Launch, Process
from kohort.observability.logs import LogForm, begin_logging
from kohort.process.loop import run
from kohort.process.memory import bound_heaps, settle_memory

_FLAGS = {
    "webhook_port": "webhook_port",
    "metrics_bind_address": "metrics_address",
    "health_probe_bind_address": "health_address",
    "kube_api_qps": "qps",
    "kube_api_burst": "burst",
    "leader_elect": "elects",
    "leader_elect_lease_duration": "lease_seconds",
    "leader_elect_renew_deadline": "renew_seconds",
    "leader_elect_retry_period": "retry_seconds",
    "leader_elect_resource_name": "lease_name",
    "gang": "scheduler",
    "apis": "apis",
}
_ASK_SECONDS = 2.0
log = logging.getLogger(__name__)
_LEVELS = {"error": logging.ERROR, "panic": logging.ERROR, "debug": logging.DEBUG}


def launch(arguments: argparse.Namespace) -> None:
    """Run the operator until it is stopped."""
    configuration = configure(arguments)
    begin_logging(_form(arguments), _level(arguments.zap_log_level or ""))
    bound_heaps()
    settle_memory()
    run(_work(arguments, configuration))


async def _work(arguments: argparse.Namespace, configuration: Configuration) -> None:
    stop = catch_signals()
    told = configuration
    async with connect(arguments.kubeconfig, arguments.context, told.qps, told.burst) as cluster:
        gangs = await _find_gangs(cluster, configuration.scheduler)
        settings = read_settings(arguments, gangs)
        settings = replace(settings, has_usual=has_usual(configuration.scheduler))
        await Process(cluster, _describe(arguments, configuration, cluster, settings)).run(stop)


async def _find_gangs(cluster: HttpCluster, names: str) -> tuple[Dialect, ...]:
    """The dialects to speak; a cluster that does not answer yet is asked again."""
    while True:
        try:
            gangs = await choose_dialects(cluster, names, find_known())
        except (InternalError, TimedOut, Unavailable) as error:
            log.warning("cannot see which gangs are served: %s", error)
            await asyncio.sleep(_ASK_SECONDS)
            continue
        if names:
            found = ", ".join(gang.name for gang in gangs) or "no scheduler: none is served"
            log.info("gangs are made for %s", found)
        return gangs


def configure(arguments: argparse.Namespace) -> Configuration:
    """The configuration file, with the flags laid over it."""
    configuration = Configuration()
    path: Path | None = arguments.config
    if path is not None:
        try:
            configuration = read_configuration(path.read_text())
        except UnicodeDecodeError as error:
            raise Failure(f"{path}: not a text: {error}") from error
        except KohortError as error:
            raise Failure(f"{path}: {error}") from error
    given: dict[str, Any] = {
        field: value
        for flag, field in _FLAGS.items()
        if (value := getattr(arguments, flag)) is not None
    }
    told = check_configuration(replace(configuration, **given))
    return place_pages(told, is_in_cluster=is_in_cluster(os.environ))


def _describe(
    arguments: argparse.Namespace,
    configuration: Configuration,
    cluster: HttpCluster,
    settings: Settings,
) -> Launch:
    namespace = arguments.namespace or _own_namespace()
    url = _find_url(arguments, configuration, cluster)
    installing = None
    if arguments.install:
        installing = InstallOptions(
            namespace=namespace,
            webhook_url=url,
            replace_crds=arguments.replace_crds,
            ignore_unserved=arguments.ignore_disaggregated,
        )
    cert_dir = arguments.cert_dir
    if cert_dir is None and not configuration.keeps_certificates:
        cert_dir = Path(configuration.cert_dir)
    return Launch(
        apis=choose_apis(configuration.apis),
        identity=name_holder(socket.gethostname(), str(uuid4())),
        configuration=_listen(configuration, arguments, url),
        settings=settings,
        namespace=namespace,
        webhook_url=url,
        installing=installing,
        cert_dir=cert_dir,
        read_document=cluster.read_document,
    )


def read_settings(arguments: argparse.Namespace, gangs: tuple[Dialect, ...]) -> Settings:
    """The operator's defaults for workloads that do not set a field, from the flags."""
    return replace(
        DEFAULTS,
        strategy=arguments.rollout_strategy,
        carrier=arguments.carrier,
        gangs=gangs,
        tiers=gather_tiers(arguments.tier),
        patches_pods=not arguments.no_pod_patches,
    )


def _find_url(
    arguments: argparse.Namespace, configuration: Configuration, cluster: HttpCluster
) -> str:
    """Where the API server reaches us; empty if by the Service."""
    url: str = arguments.webhook_url or ""
    if url:
        parts = urlsplit(url)
        if parts.scheme != "https" or not parts.hostname:
            raise UsageError(f"--webhook-url must look like https://HOST:PORT, not {url!r}")
        return url.rstrip("/")
    if not arguments.install or is_in_cluster(os.environ):
        return ""
    if not _is_loopback(urlsplit(cluster.server).hostname or ""):
        raise UsageError(
            "--install from outside of the cluster needs --webhook-url https://HOST:PORT, where "
            "the API server reaches this process"
        )
    return f"https://127.0.0.1:{configuration.webhook_port}"


def _listen(configuration: Configuration, arguments: argparse.Namespace, url: str) -> Configuration:
    """Listen at the host and port of the webhook URL, unless flags name others."""
    parts = urlsplit(url)
    if url and arguments.webhook_port is None:
        configuration = replace(configuration, webhook_port=parts.port or 443)
    if url and not configuration.webhook_host and _is_loopback(parts.hostname or ""):
        configuration = replace(configuration, webhook_host=parts.hostname or "")
    return configuration


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _own_namespace() -> str:
    path = ACCOUNT / "namespace"
    return path.read_text().strip() if path.exists() else NAMESPACE


def _form(arguments: argparse.Namespace) -> LogForm:
    if arguments.log_format:
        return LogForm(arguments.log_format)
    return LogForm.JSON if arguments.zap_encoder == "json" else LogForm.TEXT


def _level(text: str) -> int:
    if text.isdigit():
        # A higher number logs more. Upstream's own manifests set 2, which is no wish for debug
        # lines.
        return logging.DEBUG if int(text) > 2 else logging.INFO
    if text and text not in (*_LEVELS, "info"):
        raise UsageError(f"--zap-log-level must be debug, info, error or a number, not {text!r}")
    return _LEVELS.get(text, logging.INFO)
