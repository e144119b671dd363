"""The configuration file: what is taken, and in which words the rest is refused."""

import pytest

from kohort.controller.process.configuration import (
    BadConfiguration,
    Configuration,
    read_address,
    read_configuration,
    read_duration,
)

HEAD = "apiVersion: config.lws.x-k8s.io/v1alpha1\nkind: Configuration\n"
WHOLE = """
webhook: {port: 9444, host: 10.0.0.1, certDir: /certs}
leaderElection:
  leaderElect: true
  leaseDuration: 30s
  renewDeadline: 20s
  retryPeriod: 500ms
  resourceLock: leases
  resourceName: other
  resourceNamespace: ignored
metrics: {bindAddress: ":9090"}
health: {healthProbeBindAddress: ":9091", readinessEndpointName: /r, livenessEndpointName: /l}
tls: {minVersion: VersionTLS12, cipherSuites: [TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256]}
internalCertManagement: {enable: false, webhookServiceName: s, webhookSecretName: c}
clientConnection: {qps: 5.5, burst: 7}
gangSchedulingManagement: {schedulerProvider: volcano}
"""


def test_a_file_that_says_nothing_gives_the_defaults():
    assert read_configuration(HEAD) == Configuration()
    assert read_configuration(HEAD + "metrics:\nhealth: {}\n") == Configuration()


def test_every_field_is_read():
    assert read_configuration(HEAD + WHOLE) == Configuration(
        webhook_host="10.0.0.1",
        webhook_port=9444,
        cert_dir="/certs",
        lease_seconds=30.0,
        renew_seconds=20.0,
        retry_seconds=0.5,
        lease_name="other",
        metrics_address=":9090",
        health_address=":9091",
        readiness_path="/r",
        liveness_path="/l",
        tls_suites=("TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",),
        keeps_certificates=False,
        service_name="s",
        secret_name="c",
        qps=5.5,
        burst=7,
        scheduler="volcano",
    )


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("webhok: {}", "unknown field 'webhok' (did you mean 'webhook'?)"),
        ("webhook: {prt: 1}", "unknown field 'webhook.prt' (did you mean 'port'?)"),
        ("webhook: 3", "webhook must be a mapping, not 3"),
        ("webhook: {port: 70000}", "webhook.port: must be a whole number from 1 to 65535"),
        ("leaderElection: {leaderElect: yes please}", "leaderElection.leaderElect: must be true"),
        ("leaderElection: {leaseDuration: 15}", "must be a duration such as 15s or 1m30s, not 15"),
        ("leaderElection: {leaseDuration: 5s}", "leaseDuration must be longer than renewDeadline"),
        ("leaderElection: {resourceLock: endpoints}", "must be one of leases, not 'endpoints'"),
        ("metrics: {bindAddress: 8443}", "metrics.bindAddress: must be a text, not 8443"),
        ("metrics: {bindAddress: here}", "must be an address such as :8081, or 0 for none"),
        ("tls: {minVersion: VersionTLS1}", "did you mean 'VersionTLS13'?"),
        ("tls: {cipherSuites: [TLS_NULL]}", "tls.cipherSuites: must be one of"),
        (
            "tls: {minVersion: VersionTLS13, cipherSuites: "
            "[TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256]}",
            "cannot be chosen when minVersion is VersionTLS13",
        ),
        (
            "tls: {cipherSuites: [TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256]}",
            "certificates of our own have ECDSA keys",
        ),
        ("clientConnection: {qps: many}", "clientConnection.qps: must be a number, not 'many'"),
        ("gangSchedulingManagement: {}", "schedulerProvider is required"),
        ("gangSchedulingManagement: {schedulerProvider: yunikorn}", "must be one of volcano"),
    ],
)
def test_a_field_that_cannot_be_used_is_refused_with_its_place(text, why):
    with pytest.raises(BadConfiguration) as refused:
        read_configuration(HEAD + text)
    assert why in str(refused.value)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a: [", "the configuration is no YAML"),
        ("- a", "the configuration is no mapping"),
        ("kind: Configuration", "expected a Configuration of config.lws.x-k8s.io/v1alpha1"),
    ],
)
def test_what_is_no_configuration_is_refused(text, why):
    with pytest.raises(BadConfiguration, match=why):
        read_configuration(text)


@pytest.mark.parametrize(
    ("text", "seconds"), [("15s", 15.0), ("1m30s", 90.0), ("1.5h", 5400.0), ("250ms", 0.25)]
)
def test_durations_are_read_as_go_writes_them(text, seconds):
    assert read_duration(text) == seconds


@pytest.mark.parametrize("text", ["", "15", "s", "1m 30s", "-1s", 15])
def test_what_is_no_duration_is_refused(text):
    with pytest.raises(ValueError, match="must be a duration"):
        read_duration(text)


@pytest.mark.parametrize("text", [":8081", "127.0.0.1:0", "[::1]:80", "0"])
def test_addresses_are_taken_as_they_are(text):
    assert read_address(text) == text
