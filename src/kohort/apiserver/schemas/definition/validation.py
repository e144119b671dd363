"""
Validation of a whole definition, when it is created and when it is changed.
"""

from collections.abc import Callable, Iterator
from typing import Any

from kohort.apiserver.schemas.definition.field_errors import (
    forbidden,
    invalid,
    required,
    unsupported,
)
from kohort.apiserver.schemas.definition.names import (
    find_approval_errors,
    find_group_errors,
    find_name_errors,
    find_names_errors,
)
from kohort.apiserver.schemas.definition.versions import find_version_errors
from kohort.cluster.fields import FieldError
from kohort.cluster.names import check_dns_1035
from kohort.cluster.objects import Object, is_true

CheckClient = Callable[[Object, str], list[FieldError]]
_REVIEW_VERSIONS = ("v1", "v1beta1")


def _check_nothing(client: Object, path: str) -> list[FieldError]:
    return []


def validate_definition(
    crd: Object, old: Object | None = None, check_client: CheckClient = _check_nothing
) -> list[FieldError]:
    """The errors in a definition that has been defaulted.

    ``check_client`` returns the errors in a webhook's clientConfig.
    """
    spec: Object = crd.get("spec") or {}
    errors = [*find_name_errors(crd)] if old is None else []
    errors += find_group_errors(spec)
    errors += find_version_errors(spec, (old or {}).get("spec"))
    errors += find_names_errors(spec.get("names") or {})
    errors += _find_conversion_errors(spec.get("conversion") or {}, check_client)
    if old is not None:
        errors += _find_change_errors(spec, old)
    errors += _find_stored_errors(crd, old)
    errors += find_approval_errors(crd, old)
    if spec.get("preserveUnknownFields"):
        errors.append(
            invalid(
                "spec.preserveUnknownFields",
                True,
                "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in "
                "spec.versions[*].schema instead",
            )
        )
    return errors


def _find_conversion_errors(conversion: Object, check_client: CheckClient) -> Iterator[FieldError]:
    path, strategy = "spec.conversion", conversion.get("strategy") or ""
    webhook: Object = conversion.get("webhook") or {}
    if strategy not in ("None", "Webhook"):
        yield unsupported(f"{path}.strategy", strategy, ["None", "Webhook"])
    if strategy == "Webhook":
        if webhook.get("clientConfig") is None:
            detail = "required when strategy is set to Webhook"
            yield required(f"{path}.webhookClientConfig", detail)
        else:
            yield from check_client(webhook["clientConfig"], f"{path}.webhookClientConfig")
        versions: list[str] = webhook.get("conversionReviewVersions") or []
        yield from _find_review_errors(versions, f"{path}.conversionReviewVersions")
        return
    detail = "should not be set when strategy is not set to Webhook"
    for field, name in (
        ("clientConfig", "webhookClientConfig"),
        ("conversionReviewVersions", "conversionReviewVersions"),
    ):
        if webhook.get(field):
            yield forbidden(f"{path}.{name}", detail)


def _find_review_errors(versions: list[str], path: str) -> Iterator[FieldError]:
    if not versions:
        yield required(path)
        return
    for index, version in enumerate(versions):
        if version in versions[:index]:
            yield invalid(f"{path}[{index}]", version, "duplicate version")
            continue
        for why in check_dns_1035(version):
            yield invalid(f"{path}[{index}]", version, why)
    if not set(versions) & set(_REVIEW_VERSIONS):
        detail = f"must include at least one of {', '.join(_REVIEW_VERSIONS)}"
        yield invalid(path, versions, detail)


def _find_change_errors(spec: Object, old: Object) -> Iterator[FieldError]:
    before: Object = old.get("spec") or {}
    fixed: list[tuple[str, ...]] = [("group",), ("names", "plural")]
    if is_true(old, "Established"):
        fixed = [("scope",), ("names", "kind"), *fixed]
    for keys in fixed:
        new, previous = _look_up(spec, keys), _look_up(before, keys)
        if new != previous:
            yield invalid(f"spec.{'.'.join(keys)}", new, "field is immutable")


def _look_up(value: Any, keys: tuple[str, ...]) -> Any:
    for key in keys:
        value = (value or {}).get(key)
    return value


def _find_stored_errors(crd: Object, old: Object | None) -> Iterator[FieldError]:
    """The error for a removed version in which objects may still be stored."""
    path = "status.storedVersions"
    versions: list[Object] = (crd.get("spec") or {}).get("versions") or []
    stored = list(((old or {}).get("status") or {}).get("storedVersions") or ())
    current = [version.get("name") for version in versions if version.get("storage")][:1]
    stored += [name for name in current if name not in stored]
    if not stored:
        yield invalid(path, None, "must have at least one stored version")
    for version in versions:
        if version.get("storage") and version.get("name") not in stored:
            detail = f"must have the storage version {version.get('name')}"
            yield invalid(path, stored, detail)
    names = {version.get("name") for version in versions}
    for index, name in enumerate(stored):
        if name not in names:
            yield invalid(
                f"{path}[{index}]",
                name,
                f"missing from spec.versions; {name} was previously a storage version, and must "
                "remain in spec.versions until a storage migration ensures no data remains "
                f"persisted in {name} and removes {name} from status.storedVersions",
            )
