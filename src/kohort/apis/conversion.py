"""
Conversion between the versions of a kind, by the API that the kind belongs to.

A converter is pure: it gets an object and the name of a version, and gives the object in that
version. It raises ConversionError, with a sentence for the user, where there is no such form.
The same function answers over HTTPS and inside an embedded cluster. It never guesses: an object
of an unknown kind or version is refused.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from kohort.apis.definitions.shapes import DEPTH_MAX, is_deeper
from kohort.cluster.errors import KohortError
from kohort.cluster.objects import Object, metadata_of, name_of, namespace_of

CONVERT_PATH = "/convert"
Convert = Callable[[Object, str], Object]  # (object, name of a version)
Define = Callable[[], Object]


class ConversionError(KohortError):
    """An object that has no form in the requested version."""


class ConverterMistake(ConversionError):
    """A converter raised an unexpected exception: a bug of ours, not a fault of the object."""


class Versioned(Protocol):
    """An API with definitions, and a converter if a definition has several versions."""

    @property
    def definitions(self) -> tuple[Define, ...]:
        """The CustomResourceDefinitions, each made afresh."""

    @property
    def convert(self) -> Convert | None:
        """The converter; None where no kind has several versions."""


@dataclass(frozen=True, slots=True)
class Converter:
    """How objects of one kind are converted, and between which versions."""

    versions: frozenset[str]
    convert: Convert


Converters = Mapping[tuple[str, str], Converter]  # by group and kind


def list_versions(definition: Object) -> tuple[str, ...]:
    """The names of all versions of a definition."""
    return tuple(version["name"] for version in definition["spec"]["versions"])


def needs_conversion(definition: Object) -> bool:
    """Whether a definition has more than one version."""
    return len(list_versions(definition)) > 1


def collect_converters(apis: Sequence[Versioned]) -> Converters:
    """The converters of all APIs, by group and kind."""
    found: dict[tuple[str, str], Converter] = {}
    for api in apis:
        for definition in (define() for define in api.definitions if api.convert):
            spec = definition["spec"]
            if needs_conversion(definition) and api.convert is not None:
                versions = frozenset(list_versions(definition))
                found[spec["group"], spec["names"]["kind"]] = Converter(versions, api.convert)
    return found


def convert_object(converters: Converters, obj: Any, api_version: str) -> Object:
    """An object in another version, such as ``example.com/v2``; raises ConversionError."""
    if not isinstance(obj, dict) or not isinstance(obj.get("metadata") or {}, dict):
        raise ConversionError("what is to be converted is no object")
    if is_deeper(obj, DEPTH_MAX):
        raise ConversionError(f"the object is nested more than {DEPTH_MAX} levels deep")
    had, kind = str(obj.get("apiVersion", "")), str(obj.get("kind", ""))
    group, _, version = api_version.rpartition("/")
    converter = converters.get((group, kind))
    if converter is None or had.rpartition("/")[0] != group:
        raise ConversionError(
            f"{kind or 'an object'} of {had or 'no version'} cannot become one of {api_version}: "
            "Kohort converts no such kind"
        )
    for name in (had.rpartition("/")[2], version):
        if name not in converter.versions:
            known = ", ".join(sorted(converter.versions))
            raise ConversionError(f"{kind} has no version {name!r} (known: {known})")
    try:
        converted = converter.convert(obj, version) if had != api_version else obj
    except ConversionError as error:
        raise ConversionError(f"{_describe(obj)} has no form in {version}: {error}") from error
    except Exception as error:
        raise ConverterMistake(
            f"{_describe(obj)} cannot be converted to {version}: a mistake of Kohort "
            f"({type(error).__name__}), report it"
        ) from error
    # The API server sets apiVersion and kind; a converter may leave them out.
    return {**converted, "apiVersion": api_version, "kind": kind}


def _describe(obj: Object) -> str:
    place = "/".join(part for part in (namespace_of(obj), name_of(obj)) if part)
    return f"{obj['kind']} {place or metadata_of(obj).get('generateName') or 'without a name'}"
