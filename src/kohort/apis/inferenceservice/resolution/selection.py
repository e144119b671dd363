"""
Selection of the runtime for a model: the one that the user names, or the best that fits.

Runtimes of the namespace win over those of the cluster. Within a scope the higher score wins, then
the size range nearest to the model, then the name, so that the choice is the same each time. Only
formats that fit the model count, for ``autoSelect`` and for the score. Upstream counts any format,
even of other architectures; ``is_lenient`` does the same.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from kohort.apis.inferenceservice import reasons
from kohort.apis.inferenceservice.models import BaseModel, VersionedName
from kohort.apis.inferenceservice.reasons import ServiceError
from kohort.apis.inferenceservice.resolution.compatibility import (
    find_bare_component,
    find_format_mismatch,
    find_mismatch,
)
from kohort.apis.inferenceservice.resolution.sizes import measure_distance
from kohort.apis.inferenceservice.resolution.versions import accepts_version
from kohort.apis.inferenceservice.runtimes import ServingRuntime, SupportedFormat
from kohort.apis.inferenceservice.spec import InferenceService

_FORMAT_WEIGHT, _FRAMEWORK_WEIGHT = 10, 5  # instead of a weight of 0


@dataclass(frozen=True, slots=True)
class Candidate:
    """A runtime that was considered: its score, and why it was not chosen."""

    runtime: ServingRuntime
    score: int = 0
    reason: str = ""  # why it was not chosen; empty: it was

    def __str__(self) -> str:
        score = f" (score {self.score})" if self.score else ""
        return f"{self.runtime.kind} {self.runtime.name}{score}: {self.reason or 'chosen'}"


@dataclass(frozen=True, slots=True)
class Selection:
    """The chosen runtime, and all that were not chosen."""

    chosen: ServingRuntime
    passed_over: tuple[Candidate, ...] = ()
    score: int = 0
    is_named: bool = False  # the user named it


def check_model(model: BaseModel) -> None:
    """Raises ServiceError for a model without a format, since no runtime can fit it."""
    if model.format is None:
        raise ServiceError(
            reasons.RUNTIME_SELECTION,
            f"{model.kind} {model.name} has no modelFormat yet: wait until the model agent has "
            "read its files, or write modelFormat into it",
            reasons.MODEL_NOT_READY,
        )


def name_runtime(
    name: str, known: Iterable[ServingRuntime], model: BaseModel, service: InferenceService
) -> Selection:
    """The runtime that a service names, if it can serve the model; raises ServiceError."""
    found = [runtime for runtime in known if runtime.name == name and _is_visible(runtime, service)]
    if not found:
        raise ServiceError(
            reasons.RUNTIME_FETCH,
            f"there is no ServingRuntime {name} in namespace {service.namespace}, and no "
            "ClusterServingRuntime of that name: create one, or name another",
            reasons.RUNTIME_UNKNOWN,
        )
    runtime = sorted(found, key=lambda each: not each.namespace)[0]
    why = find_mismatch(runtime, model, service)
    if why:
        failure = reasons.RUNTIME_DISABLED if runtime.is_disabled else reasons.NO_RUNTIME
        raise ServiceError(
            reasons.RUNTIME_INVALID,
            f"{runtime.kind} {name} cannot serve model {model.name}: {why}",
            failure,
        )
    return Selection(runtime, is_named=True)


def select_runtime(
    known: Iterable[ServingRuntime],
    model: BaseModel,
    service: InferenceService,
    is_lenient: bool = False,
) -> Selection:
    """The best runtime for a model; raises ServiceError with each runtime's reason if none fits."""
    visible = [runtime for runtime in known if _is_visible(runtime, service)]
    judged = [_judge(runtime, model, service, is_lenient) for runtime in visible]
    if not is_lenient:
        judged = _prefer_whole(judged, service)
    fitting = sorted(
        (each for each in judged if not each.reason), key=lambda each: _rank(each, model)
    )
    others = sorted((each for each in judged if each.reason), key=lambda each: each.runtime.name)
    if not fitting:
        raise _find_none(model, service, others)
    best, *rest = fitting
    beaten = [Candidate(each.runtime, each.score, _explain(each, best, model)) for each in rest]
    return Selection(best.runtime, (*beaten, *others), best.score)


def _prefer_whole(judged: list[Candidate], service: InferenceService) -> list[Candidate]:
    """Pass runtimes over with which a component would have no container, if any other fits."""
    bare = [find_bare_component(each.runtime, service) for each in judged]
    if not any(not each.reason and not part for each, part in zip(judged, bare, strict=True)):
        return judged
    return [
        each
        if each.reason or not part
        else replace(each, reason=f"neither it nor the service gives {part} a container")
        for each, part in zip(judged, bare, strict=True)
    ]


def _is_visible(runtime: ServingRuntime, service: InferenceService) -> bool:
    return runtime.namespace in ("", service.namespace)


def _judge(
    runtime: ServingRuntime, model: BaseModel, service: InferenceService, is_lenient: bool
) -> Candidate:
    why = find_mismatch(runtime, model, service)
    if why:
        return Candidate(runtime, reason=why)
    if is_lenient:
        formats = [each for each in runtime.formats if each.auto_select is not False]
        may_select = any(each.auto_select for each in runtime.formats)
    else:
        formats = [
            e for e in runtime.formats if e.auto_select and not find_format_mismatch(e, model)
        ]
        may_select = bool(formats)
    if not may_select:
        return Candidate(runtime, reason="autoSelect is not true for the format that takes it")
    score = max((score_format(each, model) for each in formats), default=0)
    return Candidate(runtime, score, "" if score > 0 else "its score is 0")


def score_format(supported: SupportedFormat, model: BaseModel, priority: int | None = None) -> int:
    """How well a format fits a model: its priority times its weights; 0 if it does not fit."""
    if not _agrees(supported.format, model.format):
        return 0
    if not _agrees(supported.framework, model.framework):
        return 0
    weight = _weigh(supported.format, _FORMAT_WEIGHT) + _weigh(
        supported.framework, _FRAMEWORK_WEIGHT
    )
    factor = supported.priority if priority is None else priority
    return weight * (1 if factor is None else factor)


def _agrees(ours: VersionedName | None, theirs: VersionedName | None) -> bool:
    """Whether names are equal, and versions compatible if both sides have one."""
    if ours is None or theirs is None:
        return ours is theirs
    if ours.version is None or theirs.version is None:
        return ours.name == theirs.name
    is_taken = accepts_version(ours.version, theirs.version, ours.operator)
    return ours.name == theirs.name and is_taken


def _weigh(found: VersionedName | None, usual: int) -> int:
    return 0 if found is None else found.weight or usual


def _rank(each: Candidate, model: BaseModel) -> tuple[bool, int, float, str]:
    size = model.parameter_size
    distance = measure_distance(size, each.runtime) if size else 0.0
    return (not each.runtime.namespace, -each.score, distance, each.runtime.name)


def _explain(each: Candidate, best: Candidate, model: BaseModel) -> str:
    """Why a runtime that fits ranks behind the chosen one."""
    winner = f"{best.runtime.kind} {best.runtime.name}"
    mine, first = _rank(each, model), _rank(best, model)
    if mine[0] != first[0]:
        return f"{winner} is of the service's namespace"
    if mine[1] != first[1]:
        return f"{winner} has the higher score {best.score}"
    if mine[2] != first[2]:
        return f"the sizes of {winner} are nearer to {model.parameter_size}"
    return f"{winner} fits as well, and comes first by name: set distinct priorities"


def _find_none(
    model: BaseModel, service: InferenceService, others: list[Candidate]
) -> ServiceError:
    local = sum(1 for each in others if each.runtime.namespace)
    told = "; ".join(str(each) for each in others)
    return ServiceError(
        reasons.RUNTIME_SELECTION,
        f"no runtime for model {model.name}: looked at {local} in namespace {service.namespace} "
        f"and {len(others) - local} of the cluster{': ' + told if told else ''}",
        reasons.NO_RUNTIME,
    )


def choose_format(selection: Selection, model: BaseModel) -> SupportedFormat | None:
    """The best format of the chosen runtime, whose accelerator settings apply to its pods."""
    best, found = 0, None
    for each in selection.chosen.formats:
        score = score_format(each, model, priority=1)
        if score > best and (selection.is_named or each.auto_select):
            best, found = score, each
    return found
