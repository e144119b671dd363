"""The pods of a StatefulSet: a template, with a stable name, host name and claims."""

import orjson

from kohort.cluster.objects import Object
from kohort.simulator.builtins.statefulsets.claims import claim_name
from kohort.simulator.builtins.statefulsets.revisions import History
from kohort.simulator.builtins.statefulsets.spec import (
    POD_INDEX_LABEL,
    POD_NAME_LABEL,
    REVISION_LABEL,
    SetSpec,
)
from kohort.simulator.builtins.templates import pod_from_template


class Renderer:
    """Makes pods of one set; each pod is a fresh object, since the caller may change it."""

    def __init__(self, spec: SetSpec, history: History) -> None:
        self._spec = spec
        self._history = history
        self._templates: dict[str, bytes] = {}

    def render(self, ordinal: int) -> Object:
        """The pod of one ordinal, at the revision that is due to it."""
        spec, history = self._spec, self._history
        revision = history.current if spec.starts_from_current(ordinal) else history.update
        name = f"{spec.name}-{ordinal}"
        pod = pod_from_template(self._template(revision), spec.entry, spec.owner)
        pod["metadata"]["name"] = name
        pod["metadata"]["labels"] |= {
            REVISION_LABEL: revision,
            POD_NAME_LABEL: name,
            POD_INDEX_LABEL: str(ordinal),
        }
        pod["spec"]["hostname"] = name
        service = spec.obj["spec"].get("serviceName")
        if service:
            pod["spec"]["subdomain"] = service
        self._mount(pod, name)
        return pod

    def _template(self, revision: str) -> Object:
        if revision not in self._templates:
            kept = (
                None if revision == self._history.update else self._history.find_template(revision)
            )
            self._templates[revision] = orjson.dumps(kept or self._spec.obj["spec"]["template"])
        template: Object = orjson.loads(self._templates[revision])
        return template

    def _mount(self, pod: Object, pod_name: str) -> None:
        claimed = {
            template["metadata"]["name"]: claim_name(template, pod_name)
            for template in self._spec.claim_templates
        }
        if not claimed:
            return
        others = [v for v in pod["spec"].get("volumes") or () if v["name"] not in claimed]
        pod["spec"]["volumes"] = [
            *({"name": n, "persistentVolumeClaim": {"claimName": c}} for n, c in claimed.items()),
            *others,
        ]


def identity_patch(pod_name: str, ordinal: int) -> Object:
    """The patch that sets an adopted pod's name and index labels."""
    labels = {POD_NAME_LABEL: pod_name, POD_INDEX_LABEL: str(ordinal)}
    return {"metadata": {"labels": labels}}
