"""
Whether a runtime can serve a model for a service, and if not, the first reason why.

A fact that only one side states is a mismatch: a runtime for some architecture does not serve a
model whose architecture is unknown.
"""

from collections.abc import Iterator

from kohort.apis.inferenceservice import labels
from kohort.apis.inferenceservice.fields import read_object, read_text
from kohort.apis.inferenceservice.models import BaseModel, VersionedName
from kohort.apis.inferenceservice.resolution.sizes import is_in_range
from kohort.apis.inferenceservice.resolution.versions import accepts_version
from kohort.apis.inferenceservice.runtimes import ServingRuntime, SupportedFormat
from kohort.apis.inferenceservice.spec import ComponentSpec, ComponentType, InferenceService
from kohort.cluster.objects import Object

_PIPELINE_PARTS = ("scheduler", "textEncoder", "tokenizer", "transformer", "vae")


def find_mismatch(runtime: ServingRuntime, model: BaseModel, service: InferenceService) -> str:
    """The first reason why a runtime cannot serve the model; empty if it can."""
    if runtime.is_disabled:
        return "it is disabled"
    missing = [name for name in list_accelerators(service) if name not in runtime.accelerators]
    if missing:
        return f"it does not support accelerator {missing[0]}"
    if not list_matches(runtime, model):
        return _explain_formats(runtime, model)
    if model.parameter_size and runtime.has_size and not is_in_range(model.parameter_size, runtime):
        bounds = f"{runtime.size_min or '0'} to {runtime.size_max or 'any size'}"
        return f"it serves models of {bounds}, and this one has {model.parameter_size}"
    return ""


def find_bare_component(runtime: ServingRuntime, service: InferenceService) -> str:
    """The first component of a service that would have no container; empty if each has one."""
    for component, own in service.components.items():
        held = (own, runtime.components.get(component))
        if not any(_has_container(part) for part in held if part is not None):
            return component.value
    return ""


def _has_container(part: ComponentSpec) -> bool:
    """Whether a component has a container; with a leader, that is the one that counts."""
    if part.runner or part.pod.get("containers"):
        return True
    led = (each for each in (part.leader, part.worker) if each is not None)
    return any(each.runner or each.pod.get("containers") for each in led)


def list_accelerators(service: InferenceService) -> tuple[str, ...]:
    """The accelerators that the user names, all of which the runtime must support."""
    parts = [service.find(each) for each in (ComponentType.ENGINE, ComponentType.DECODER)]
    named = [
        service.annotations.get(labels.ACCELERATOR, ""),
        service.accelerator.name if service.accelerator else "",
        *(part.accelerator.name for part in parts if part and part.accelerator),
    ]
    return tuple(dict.fromkeys(name for name in named if name))


def list_matches(runtime: ServingRuntime, model: BaseModel) -> tuple[SupportedFormat, ...]:
    """The formats of a runtime that fit the model."""
    return tuple(each for each in runtime.formats if not find_format_mismatch(each, model))


def find_format_mismatch(supported: SupportedFormat, model: BaseModel) -> str:
    """The first reason why a format does not fit a model; empty if it fits."""
    checks = (
        ("diffusion pipeline", accepts_pipeline(supported.pipeline, model.pipeline)),
        ("architecture", supported.architecture == model.architecture),
        ("quantization", supported.quantization == model.quantization),
        ("format", accepts_name(supported.format, model.format)),
        ("framework", accepts_name(supported.framework, model.framework)),
    )
    return next((what for what, is_fine in checks if not is_fine), "")


def accepts_name(ours: VersionedName | None, theirs: VersionedName | None) -> bool:
    """Whether a runtime's format or framework accepts that of a model."""
    if ours is None or theirs is None:
        return ours is theirs
    if ours.name != theirs.name or (ours.version is None) != (theirs.version is None):
        return False
    if ours.version is None or theirs.version is None:
        return True
    return accepts_version(ours.version, theirs.version, ours.operator)


def accepts_pipeline(ours: Object | None, theirs: Object | None) -> bool:
    """Whether a runtime's pipeline accepts a model's; a runtime without one accepts any."""
    if ours is None:
        return True
    if theirs is None:
        return False
    wanted = read_text(ours, "className")
    if wanted and wanted != read_text(theirs, "className"):
        return False
    return all(_accepts_part(part, found) for part, found in _pair_parts(ours, theirs))


def _pair_parts(ours: Object, theirs: Object) -> Iterator[tuple[Object, Object | None]]:
    for name in _PIPELINE_PARTS:
        if isinstance(ours.get(name), dict):
            yield ours[name], theirs.get(name)
    extra = read_object(theirs, "additionalComponents")
    for name, part in read_object(ours, "additionalComponents").items():
        yield part, extra.get(name)


def _accepts_part(ours: Object, theirs: Object | None) -> bool:
    if not isinstance(theirs, dict):
        return False
    fields = ("library", "type")
    return all(not ours.get(name) or ours[name] == theirs.get(name) for name in fields)


def _explain_formats(runtime: ServingRuntime, model: BaseModel) -> str:
    if not runtime.formats:
        return "it supports no format"
    causes = dict.fromkeys(find_format_mismatch(each, model) for each in runtime.formats)
    facts = {
        "architecture": model.architecture,
        "quantization": model.quantization,
        "format": _describe(model.format),
        "framework": _describe(model.framework),
        "diffusion pipeline": read_text(model.pipeline or {}, "className") or None,
    }
    told = [f"{cause} ({facts[cause] or 'none'})" for cause in causes]
    return f"no format of it takes the model's {' or '.join(told)}"


def _describe(found: VersionedName | None) -> str | None:
    if found is None:
        return None
    return f"{found.name} {found.version}" if found.version else found.name
