"""
Field types that several kinds of RoleBasedGroup's API group share.
"""

from typing import Annotated, Any, Literal

from msgspec import Meta

from kohort.apis.definitions.fields import EMBEDS, Int32, Model, Time, about

_CORE = "io.k8s.api.core.v1."
NAME_PATTERN = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"

Raw = Annotated[Any, Meta(extra_json_schema={"x-kubernetes-preserve-unknown-fields": True})]
Container = Annotated[dict[str, Any], Meta(extra_json_schema={EMBEDS: f"{_CORE}Container"})]
Volume = Annotated[dict[str, Any], Meta(extra_json_schema={EMBEDS: f"{_CORE}Volume"})]
Toleration = Annotated[dict[str, Any], Meta(extra_json_schema={EMBEDS: f"{_CORE}Toleration"})]
SecretReference = Annotated[
    dict[str, Any], Meta(extra_json_schema={EMBEDS: f"{_CORE}LocalObjectReference"})
]
Selector = Annotated[
    dict[str, Any],
    Meta(extra_json_schema={EMBEDS: "io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector"}),
]


def rule(*pairs: tuple[str, str]) -> Meta:
    """CEL rules for the API server: pairs of an expression and the message when it is false."""
    listed = [{"rule": text, "message": message} for text, message in pairs]
    return Meta(extra_json_schema={"x-kubernetes-validations": listed})


def not_empty() -> Meta:
    """Require at least one entry in a list."""
    return Meta(extra_json_schema={"minItems": 1})


DELAYS = rule(
    (
        "!has(self.baseDelaySeconds) || !has(self.maxDelaySeconds) || "
        "self.maxDelaySeconds >= self.baseDelaySeconds",
        "maxDelaySeconds must be greater than or equal to baseDelaySeconds",
    )
)
RestartType = Literal["None", "RecreateRoleInstanceOnPodRestart"]


class RestartPolicyConfig(Model):
    """Whether the restart of a pod recreates its instance, and how long the next one waits."""

    base_delay_seconds: Annotated[
        Int32, about("The wait before the second restart; each further one doubles it.", ge=0)
    ] = 30
    max_delay_seconds: Annotated[Int32, about("The longest wait.", ge=0)] = 600
    type: Annotated[
        RestartType | None, about("What happens; without it, the pattern's default.")
    ] = None


Restart = Annotated[RestartPolicyConfig | None, about("What happens when a pod restarts."), DELAYS]
OldRestart = Annotated[RestartType | None, about("Deprecated: use restartPolicyConfig.")]


class InPlaceUpdateStrategy(Model):
    """How pods are changed as they run."""

    grace_period_seconds: Annotated[
        Int32 | None, about("How long a pod is out of its endpoints before a container restarts.")
    ] = None


class Claim(Model):
    """A condition, which is true, false or unknown."""

    status: Annotated[str, about("Whether it is so.")]
    type: Annotated[str, about("The name of the condition.")]
    last_transition_time: Annotated[Time | None, about("When the status last changed.")] = None
    message: Annotated[str | None, about("The reason in a sentence.")] = None
    reason: Annotated[str | None, about("The reason in one word.")] = None
