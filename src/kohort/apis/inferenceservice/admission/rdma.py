"""Settings for RDMA in a container, from the profile that an annotation of its pod names."""

from kohort.apis.inferenceservice import labels, names, reasons
from kohort.apis.inferenceservice.reasons import ServiceError
from kohort.cluster.objects import Object, annotations_of

_DEVICES = (0, 1, *range(3, 11), *range(12, 18))
_OCI_ROCE = {
    "GLOO_SOCKET_IFNAME": "eth0",
    "HCOLL_ENABLE_MCAST_ALL": "0",
    "IB_RX_QUEUE_LEN": "8192",
    "NCCL_CROSS_NIC": "2",
    "NCCL_CUMEM_ENABLE": "0",
    "NCCL_DEBUG": "INFO",
    "NCCL_IB_GID_INDEX": "3",
    "NCCL_IB_HCA": f"={','.join(f'mlx5_{number}' for number in _DEVICES)}",
    "NCCL_IB_QPS_PER_CONNECTION": "16",
    "NCCL_IB_SL": "0",
    "NCCL_IB_SPLIT_DATA_ON_QPS": "0",
    "NCCL_IB_TC": "41",
    "NCCL_IB_TIMEOUT": "22",
    "NCCL_IGNORE_CPU_AFFINITY": "1",
    "NCCL_NET_PLUGIN": "none",
    "NCCL_SOCKET_IFNAME": "eth0",
    "NCCL_SOCKET_NTHREADS": "16",
    "RX_QUEUE_LEN": "8192",
    "UCX_NET_DEVICES": "eth0",
    "UCX_TLS": "tcp",
    "coll_hcoll_enable": "0",
}
_PROFILES = {"oci-roce": _OCI_ROCE}
_DEFAULT_PROFILE = "oci-roce"
_VOLUMES: dict[str, tuple[str, Object]] = {
    "dshm": ("/dev/shm", {"emptyDir": {"medium": "Memory"}}),
    "devinf": ("/dev/infiniband", {"hostPath": {"path": "/dev/infiniband"}}),
}
_CAPABILITIES = ("IPC_LOCK", "CAP_SYS_ADMIN")


def add_rdma(pod: Object) -> Object:
    """The pod with settings for RDMA, if its annotations request it; raises ServiceError."""
    notes = annotations_of(pod)
    if notes.get(labels.RDMA_INJECT) != "true":
        return pod
    profile = notes.get(labels.RDMA_PROFILE) or _DEFAULT_PROFILE
    if profile not in _PROFILES:
        raise ServiceError(
            reasons.WORKLOAD,
            f"annotation {labels.RDMA_PROFILE} must be {', '.join(_PROFILES)}, not {profile!r}",
        )
    wanted = notes.get(labels.RDMA_CONTAINER) or names.MAIN_CONTAINER
    spec: Object = pod["spec"]
    containers = list(spec.get("containers") or ())
    place = next((i for i, each in enumerate(containers) if each.get("name") == wanted), None)
    if place is None:
        return pod
    containers[place] = _equip(containers[place], _PROFILES[profile])
    mounted = {mount.get("name") for mount in containers[place]["volumeMounts"]}
    volumes = list(spec.get("volumes") or ())
    lacking = mounted - {volume.get("name") for volume in volumes}
    volumes += [{"name": n, **source} for n, (_, source) in _VOLUMES.items() if n in lacking]
    return {**pod, "spec": {**spec, "containers": containers, "volumes": volumes}}


def define_mounted(template: Object) -> Object:
    """A pod template with the volumes for RDMA that its containers mount and it does not define.

    The API server refuses such a template before the webhook for pods could add the volumes.
    """
    if annotations_of(template).get(labels.RDMA_INJECT) != "true":
        return template
    spec: Object = template["spec"]
    containers = [*(spec.get("initContainers") or ()), *(spec.get("containers") or ())]
    mounted = {m.get("name") for each in containers for m in each.get("volumeMounts") or ()}
    volumes = list(spec.get("volumes") or ())
    wanted = mounted - {volume.get("name") for volume in volumes}
    volumes += [{"name": n, **source} for n, (_, source) in _VOLUMES.items() if n in wanted]
    return {**template, "spec": {**spec, "volumes": volumes}} if volumes else template


def _equip(container: Object, profile: dict[str, str]) -> Object:
    env = list(container.get("env") or ())
    taken = {entry.get("name") for entry in env}
    env += [{"name": name, "value": value} for name, value in profile.items() if name not in taken]
    mounts = list(container.get("volumeMounts") or ())
    mounted = {mount.get("name") for mount in mounts}
    # A volume of the user there serves as well, and two mounts of one path are refused.
    paths = {str(mount.get("mountPath", "")).rstrip("/") for mount in mounts}
    mounts += [
        {"name": name, "mountPath": path}
        for name, (path, _) in _VOLUMES.items()
        if name not in mounted and path not in paths
    ]
    security = dict(container.get("securityContext") or {})
    capabilities = dict(security.get("capabilities") or {})
    added = list(capabilities.get("add") or ())
    added += [each for each in _CAPABILITIES if each not in added]
    security["capabilities"] = {**capabilities, "add": added}
    security.setdefault("privileged", True)
    return {**container, "env": env, "volumeMounts": mounts, "securityContext": security}
