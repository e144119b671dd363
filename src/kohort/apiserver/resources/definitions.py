"""CustomResourceDefinitions, as a built-in kind; `schemas.definition` has their rules."""

from kohort.apiserver.resources import webhooks
from kohort.apiserver.resources.kind import BuiltinKind, reported
from kohort.apiserver.resources.validation.metadata import check_metadata
from kohort.apiserver.schemas.definition import default_definition, validate_definition, warnings_of
from kohort.cluster import kinds
from kohort.cluster.fields import FieldError
from kohort.cluster.objects import Object


def prepare_definition(definition: Object) -> None:
    """Clear the status of a new definition; the server sets it later."""
    versions: list[Object] = (definition.get("spec") or {}).get("versions") or []
    definition["status"] = {
        "conditions": None,
        "acceptedNames": {"plural": "", "kind": ""},
        "storedVersions": [v["name"] for v in versions if v.get("storage") and v.get("name")],
    }


def _any_name(name: str) -> tuple[str, ...]:
    """Accept any name here; the validation of definitions compares it with plural and group."""
    return ()


def _validate_definition(definition: Object, old: Object | None) -> list[FieldError]:
    faults = check_metadata(definition, old, kinds.DEFINITION, _any_name)
    return faults + validate_definition(definition, old, _validate_client)


def _validate_client(client: Object, path: str) -> list[FieldError]:
    """Errors in a conversion webhook's clientConfig, with a real server's mix-up of two fields."""
    service: Object | None = client.get("service")
    if service is not None:
        swapped = {"name": service.get("namespace"), "namespace": service.get("name")}
        client = {**client, "service": {**service, **swapped}}
    return webhooks.validate_client(client, path)


KINDS = (
    BuiltinKind(
        kinds.DEFINITION,
        ("crd", "crds"),
        ("api-extensions",),
        reported(
            _validate_definition,
            default_definition,
            prepare_create=prepare_definition,
            warn=warnings_of,
        ),
        subresources=("status",),
        has_generation=True,
    ),
)
