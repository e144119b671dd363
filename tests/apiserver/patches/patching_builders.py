"""Builders of small shapes, and the pieces of a deployment that the patching tests need."""

from typing import Any

from kohort.apiserver.schemas.shapes import ListType, Shape, Type

STRING = Shape(Type.STRING)
INTEGER = Shape(Type.INTEGER)


def an_object(**fields: Shape) -> Shape:
    """An object with these fields."""
    return Shape(Type.OBJECT, fields=fields)


def a_map(items: Shape = STRING, *, atomic: bool = False) -> Shape:
    """A map with free keys."""
    return Shape(Type.MAP, items=items, atomic=atomic)


def keyed(items: Shape, *keys: str, merge_key: str = "") -> Shape:
    """A list whose entries are told apart by keys."""
    key = merge_key or keys[0]
    return Shape(
        Type.LIST, items=items, list_type=ListType.MAP, list_keys=keys, merge_key=key, merge=True
    )


def a_set() -> Shape:
    """A list of scalars, each at most once."""
    return Shape(Type.LIST, items=STRING, list_type=ListType.SET, merge=True)


def a_list(items: Shape = STRING) -> Shape:
    """A list that is owned and replaced as a whole."""
    return Shape(Type.LIST, items=items)


def metadata_shape() -> Shape:
    """What objects carry in their metadata."""
    owner = an_object(apiVersion=STRING, kind=STRING, name=STRING, uid=STRING)
    owner.atomic = True
    fields = {
        name: STRING for name in ("name", "namespace", "uid", "resourceVersion", "generateName")
    }
    return an_object(
        generation=INTEGER,
        creationTimestamp=STRING,
        labels=a_map(),
        annotations=a_map(),
        finalizers=a_set(),
        ownerReferences=keyed(owner, "uid"),
        managedFields=a_list(Shape(Type.ANY)),
        **fields,
    )


def container_shape() -> Shape:
    """Enough of a container."""
    protocol = Shape(Type.STRING, default="TCP")
    port = an_object(containerPort=INTEGER, protocol=protocol, name=STRING)
    return an_object(
        name=STRING,
        image=STRING,
        command=a_list(),
        env=keyed(an_object(name=STRING, value=STRING), "name"),
        ports=keyed(port, "containerPort", "protocol"),
        resources=an_object(limits=a_map(Shape(Type.INT_OR_STRING))),
    )


def deployment_shape() -> Shape:
    """Enough of a deployment for every kind of field that there is."""
    pod_spec = an_object(
        containers=keyed(container_shape(), "name"),
        nodeSelector=a_map(atomic=True),
        volumes=keyed(an_object(name=STRING, emptyDir=an_object()), "name"),
        tolerations=a_list(an_object(key=STRING)),
    )
    selector = an_object(matchLabels=a_map())
    selector.atomic = True
    spec = an_object(
        replicas=INTEGER,
        selector=selector,
        strategy=an_object(type=STRING, rollingUpdate=an_object(maxSurge=STRING)),
        template=an_object(metadata=metadata_shape(), spec=pod_spec),
    )
    return an_object(apiVersion=STRING, kind=STRING, metadata=metadata_shape(), spec=spec)


def a_deployment(**changes: Any) -> dict[str, Any]:
    """A deployment with three containers; keyword arguments change its spec."""
    containers = [
        {
            "name": "a",
            "image": "a",
            "ports": [{"containerPort": 80, "protocol": "TCP"}],
            "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}],
        },
        {"name": "b", "image": "b"},
        {"name": "c", "image": "c"},
    ]
    spec = {
        "replicas": 1,
        "selector": {"matchLabels": {"app": "x"}},
        "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%"}},
        "template": {"metadata": {"labels": {"app": "x"}}, "spec": {"containers": containers}},
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "d", "finalizers": ["a.b/c", "d.e/f"]},
        "spec": {**spec, **changes},
    }
