"""The ConfigMap with the location of a service's model, for containers that load it."""

from typing import Any

from kohort.apis.inferenceservice import labels, names
from kohort.apis.inferenceservice.models import BaseModel, FineTunedWeight, Storage
from kohort.apis.inferenceservice.objects.owned import make_object
from kohort.apis.inferenceservice.spec import InferenceService
from kohort.cluster.kinds import CONFIG_MAP
from kohort.cluster.objects import Object, encode_json


def render_model_config(
    service: InferenceService, model: BaseModel, weight: FineTunedWeight | None
) -> Object:
    """The ConfigMap ``modelconfig-…`` with one model in ``models.json``."""
    entry: Object = {"modelName": model.name, "modelSpec": _write_model(model)}
    if weight is not None:
        tuned = {**_write_storage(weight.storage), "modelType": weight.type}
        entry["fineTunedWeightSpec"] = _drop_empty(tuned)
    name = names.model_config_name(service.name)
    marks = {labels.SERVICE_NAME: service.name}
    obj = make_object(CONFIG_MAP, service, name, marks)
    return {**obj, "data": {"models.json": encode_json([entry]).decode()}}


def _write_model(model: BaseModel) -> Object:
    form, framework = model.format, model.framework
    return _drop_empty(
        {
            **_write_storage(model.storage),
            "modelFormatName": form.name if form else "",
            "modelFormatVersion": form.version if form else None,
            "modelType": model.type,
            "modelFrameworkName": framework.name if framework else "",
            "modelFrameworkVersion": framework.version if framework else None,
        }
    )


def _write_storage(storage: Storage) -> dict[str, Any]:
    return {
        "storageUri": storage.uri,
        "path": storage.path,
        "schemaPath": storage.schema_path,
        "parameters": storage.parameters,
        "storageKey": storage.key,
    }


def _drop_empty(fields: dict[str, Any]) -> Object:
    return {name: value for name, value in fields.items() if value}
