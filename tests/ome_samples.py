"""
The InferenceServices that upstream ships, with models for those whose model is not shipped.

A stand-in has the facts that the model agent would find in the files of a model: here they are
read from a runtime that serves it, which is the one that the sample names, or one that may be
selected automatically.
"""

import json
import os
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml

from kohort.cluster.objects import Object, name_of

SHARED = os.environ.get("KOHORT_SHARED")
OME = Path(SHARED or "/nonexistent") / "data/ome"
MODE = "ome.io/deploymentMode"
FACTS = "sim.kohort.dev/model-facts"
_PARTS = {"engine": "engineConfig", "decoder": "decoderConfig", "router": "routerConfig"}


@dataclass(frozen=True, slots=True)
class Sample:
    """An InferenceService of upstream."""

    id: str  # its file
    obj: Object

    @property
    def has_engine(self) -> bool:
        return "engine" in self.obj["spec"]

    def write(self, mode: str = "") -> Object:
        """The service without its namespace; with a mode, in that one."""
        found = deepcopy(self.obj)
        found["metadata"].pop("namespace", None)
        if mode:
            found["metadata"].setdefault("annotations", {})[MODE] = mode
        return found


@cache
def read_shipped(folder: str) -> tuple[tuple[str, Object], ...]:
    """All objects below a folder of upstream, each with its file."""
    return tuple(_read(OME / folder))


def _read(root: Path) -> Iterator[tuple[str, Object]]:
    for path in sorted(root.rglob("*.yaml")):
        for obj in yaml.load_all(path.read_text(), Loader=yaml.CSafeLoader):
            if obj and str(obj.get("apiVersion", "")).startswith("ome.io/"):
                yield str(path.relative_to(root).with_suffix("")), obj


def list_samples() -> list[Sample]:
    """Every InferenceService of upstream."""
    shipped = read_shipped("samples/isvc")
    return [Sample(file, obj) for file, obj in shipped if obj["kind"] == "InferenceService"]


@cache
def runtimes() -> dict[str, Object]:
    """The runtimes of upstream by name; of two with one name, the later."""
    return {name_of(obj): obj for _, obj in read_shipped("runtimes")}


@cache
def models() -> dict[str, Object]:
    """The models of upstream by name."""
    return {name_of(obj): obj for _, obj in read_shipped("models")}


def find_runtime(sample: Sample) -> Object:
    """The runtime that a sample names, or one that may be selected for it."""
    spec = sample.obj["spec"]
    named = runtimes().get((spec.get("runtime") or {}).get("name", ""))
    if named is not None:
        return named
    parts = [config for part, config in _PARTS.items() if part in spec]
    fit = [each for each in runtimes().values() if all(p in each["spec"] for p in parts)]
    own = f"srt-{spec['model']['name']}"
    fit.sort(key=lambda each: name_of(each) != own)
    return next(each for each in fit if _find_automatic(each) is not None)


def _find_automatic(runtime: Object) -> Object | None:
    formats = runtime["spec"]["supportedModelFormats"]
    return next((each for each in formats if each.get("autoSelect")), None)


def find_facts(runtime: Object) -> Object:
    """What the model agent would find in the files of a model that a runtime serves."""
    form = _find_automatic(runtime) or runtime["spec"]["supportedModelFormats"][0]
    keys = ("modelFormat", "modelFramework")
    facts = {key: {k: form[key][k] for k in ("name", "version")} for key in keys}
    more = {key: form[key] for key in ("modelArchitecture", "quantization") if key in form}
    size = (runtime["spec"].get("modelSizeRange") or {}).get("min")
    return {**facts, **more, **({"modelParameterSize": size} if size else {})}


def stand_in(sample: Sample) -> Object:
    """The model of a sample: upstream's or one of its name, with the facts of a runtime."""
    name = sample.obj["spec"]["model"]["name"]
    storage = {"storageUri": f"hf://stand-in/{name}", "path": f"/raid/models/{name}"}
    bare = {
        "apiVersion": "ome.io/v1beta1",
        "kind": "ClusterBaseModel",
        "metadata": {"name": name},
        "spec": {"storage": storage},
    }
    found = deepcopy(models().get(name, bare))
    facts = find_facts(find_runtime(sample))
    found["spec"].update(facts)
    # The simulated agent would guess more from the name, such as a quantization.
    found["metadata"].setdefault("annotations", {})[FACTS] = json.dumps(facts)
    return found
