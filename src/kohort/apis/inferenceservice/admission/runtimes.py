"""
Validation of a runtime: errors, and warnings about other runtimes that it clashes with.

If two runtimes fit the same models with the same priority, admission warns and does not refuse:
runtimes that upstream ships clash with each other, and the name decides between them.
"""

from collections.abc import Iterable, Iterator

from kohort.apis.inferenceservice.fields import find_number
from kohort.apis.inferenceservice.runtimes import ServingRuntime, SupportedFormat
from kohort.apis.inferenceservice.spec import ComponentType
from kohort.cluster.fields import FieldError, FieldErrorType

_FORMATS = "spec.supportedModelFormats"


def validate_runtime(
    runtime: ServingRuntime,
    others: Iterable[ServingRuntime] = (),
    accelerators: Iterable[str] | None = None,
) -> tuple[list[FieldError], list[str]]:
    """Errors of a runtime, and a warning for each runtime that it clashes with."""
    if runtime.is_disabled:
        return [], []
    errors = [
        *_check_workers(runtime),
        *_check_priorities(runtime),
        *_check_accelerators(runtime, accelerators),
    ]
    return errors, list(_find_clashes(runtime, others))


def _check_workers(runtime: ServingRuntime) -> Iterator[FieldError]:
    if runtime.workers is None:
        return
    is_parted = {ComponentType.ENGINE, ComponentType.DECODER} <= set(runtime.components)
    size = find_number(runtime.workers, "size")
    if not is_parted and (size or 0) <= 0:
        why = "must be 1 or more"
        yield FieldError(FieldErrorType.INVALID, "spec.workers.size", why, size)


def _check_priorities(runtime: ServingRuntime) -> Iterator[FieldError]:
    found: dict[str, int | None] = {}
    for index, each in enumerate(runtime.formats):
        if each.name and found.setdefault(each.name, each.priority) != each.priority:
            why = f"format {each.name} has another priority in this runtime"
            path = f"{_FORMATS}[{index}].priority"
            yield FieldError(FieldErrorType.INVALID, path, why, each.priority)


def _check_accelerators(
    runtime: ServingRuntime, known: Iterable[str] | None
) -> Iterator[FieldError]:
    if known is None:
        return
    names = set(known)
    path = "spec.acceleratorRequirements.acceleratorClasses"
    for index, name in enumerate(runtime.accelerators):
        if name not in names:
            yield FieldError(FieldErrorType.NOT_FOUND, f"{path}[{index}]", "", name)


def _find_clashes(runtime: ServingRuntime, others: Iterable[ServingRuntime]) -> Iterator[str]:
    for other in others:
        is_same = (other.name, other.namespace) == (runtime.name, runtime.namespace)
        if is_same or other.is_disabled or other.namespace != runtime.namespace:
            continue
        if not set(runtime.protocols) & set(other.protocols):
            continue
        if (runtime.size_min, runtime.size_max) != (other.size_min, other.size_max):
            continue
        mine = {_identity(each) for each in runtime.formats if each.auto_select}
        theirs = {_identity(each) for each in other.formats if each.auto_select}
        if mine & theirs:
            yield (
                f"{other.kind} {other.name} serves the same models with the same priority: "
                "the one that comes first by name is chosen, so set distinct priorities"
            )


def _identity(each: SupportedFormat) -> tuple[object, ...]:
    """The fields that make two formats equal; their weights do not count."""
    form, framework = each.format, each.framework
    return (
        each.name.lower(),
        each.version,
        each.quantization,
        each.architecture,
        None if framework is None else (framework.name, framework.version, framework.operator),
        None if form is None else (form.name, form.version, form.operator),
        each.priority,
    )
