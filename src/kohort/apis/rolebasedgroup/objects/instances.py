"""
RoleInstances: one instance of a role, with its ordinal in its own pod templates.

Upstream shares one template between instances that it creates at once, so that several have the
ordinal of the last, and loses the ordinals on an in-place update. We copy the template for each
instance, and create and update with the same function.
"""

from collections.abc import Iterator, Mapping

import orjson

from kohort.apis.rolebasedgroup import labels, names
from kohort.apis.rolebasedgroup.roles import as_map, as_objects
from kohort.cluster.objects import (
    Object,
    annotations_of,
    labels_of,
    name_of,
    namespace_of,
    owner_reference,
    uid_of,
)

ALL_PODS_READY = "AllPodReady"


def make_instance(instance_set: Object, ordinal: int, revision: str) -> Object:
    """The RoleInstance with this ordinal, from a set that holds the revision's template."""
    name = names.instance_name(name_of(instance_set), ordinal)
    marks = {labels.INSTANCE_INDEX: str(ordinal), labels.SET_POD_NAME: name}
    return _make(instance_set, name, revision, marks, marks)


def make_stateless_instance(instance_set: Object, identity: str, revision: str) -> Object:
    """A RoleInstance without an ordinal; five characters make its name unique."""
    name = names.stateless_name(name_of(instance_set), identity)
    marks = {
        labels.INSTANCE_OWNER: uid_of(instance_set),
        labels.INSTANCE_ID: identity,
        labels.LIFECYCLE_STATE: "Normal",
    }
    return _make(instance_set, name, names.short_revision(revision), marks, {})


def list_templates(instance: Object) -> Iterator[Object]:
    """
    The templates that an instance may have been made from.

    Its own labels are taken out of its components; a template may name the policy of readiness that
    an instance has anyway.
    """
    spec = as_map(instance.get("spec"))
    components = [_unmark(each) for each in as_objects(spec.get("components"))]
    template = {**spec, "components": components}
    yield {key: value for key, value in template.items() if key != "readyPolicy"}
    yield template


def _unmark(component: Object) -> Object:
    template = as_map(component.get("template"))
    own = (labels.INSTANCE_INDEX, labels.SET_POD_NAME)
    marks = {key: value for key, value in labels_of(template).items() if key not in own}
    metadata = {**as_map(template.get("metadata")), "labels": marks}
    return {**component, "template": {**template, "metadata": metadata}}


def _make(
    instance_set: Object,
    name: str,
    revision: str,
    marks: Mapping[str, str],
    pod_marks: Mapping[str, str],
) -> Object:
    given = as_map(as_map(instance_set.get("spec")).get("roleInstanceTemplate"))
    template: Object = orjson.loads(orjson.dumps(given))
    components = [_mark(each, pod_marks) for each in as_objects(template.get("components"))]
    found = annotations_of(instance_set)
    notes = {key: found[key] for key in labels.INHERITED if key in found}
    metadata: Object = {
        "name": name,
        "namespace": namespace_of(instance_set),
        "labels": {**labels_of(instance_set), labels.REVISION: revision, **marks},
        "ownerReferences": [owner_reference(instance_set)],
    }
    if notes:
        metadata["annotations"] = notes
    spec = {"readyPolicy": ALL_PODS_READY, **template, "components": components}
    return {
        "apiVersion": labels.INSTANCE.api_version,
        "kind": labels.INSTANCE.name,
        "metadata": metadata,
        "spec": spec,
    }


def _mark(component: Object, marks: Mapping[str, str]) -> Object:
    template = as_map(component.get("template"))
    metadata = as_map(template.get("metadata"))
    marked = {**metadata, "labels": {**labels_of(template), **marks}}
    return {**component, "template": {**template, "metadata": marked}}
