"""
The manifests of ``kohort new``, one for each API: YAML with comments, as a user would write it.

Comments say what may be changed and what happens then. A test checks that every text passes
``lint`` and becomes ready on an embedded cluster.

An engine is started on one pod or on several that form one replica. Each engine is a function
from the choices of the user and the variables of the API to a command line. The shell expands the
variables, since only the pod knows its own index.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from textwrap import indent

from kohort.apis.leaderworkerset import labels as lws
from kohort.apis.modelserving import labels as ms
from kohort.apis.rolebasedgroup import labels as rbg
from kohort.cli.render.lines import count

PORT = 8000
RENDEZVOUS_PORT = 20000


@dataclass(frozen=True, slots=True)
class Choices:
    """The user's choices for a manifest, from the flags."""

    name: str
    engine: str
    image: str
    model: str
    replicas: int
    pods: int  # of one replica
    gpus: int  # of one pod


@dataclass(frozen=True, slots=True)
class Variables:
    """The environment variables in which an API gives a pod its place."""

    leader: str
    size: str
    index: str


@dataclass(frozen=True, slots=True)
class Engine:
    """One engine."""

    image: str
    command: Callable[[Choices, Variables], str]


def _start_sglang(choices: Choices, names: Variables) -> str:
    gpus = choices.gpus * choices.pods
    words = f"python3 -m sglang.launch_server --model-path {choices.model} --tp {gpus}"
    if choices.pods > 1:
        words += (
            f" --dist-init-addr ${names.leader}:{RENDEZVOUS_PORT}"
            f" --nnodes ${names.size} --node-rank ${names.index}"
        )
    return f"{words} --host 0.0.0.0 --port {PORT}"


def _start_vllm(choices: Choices, names: Variables) -> str:
    words = f"vllm serve {choices.model} --tensor-parallel-size {choices.gpus} --port {PORT}"
    if choices.pods == 1:
        return words
    # All pods but the first have no API of their own.
    headless = f'$([ "${names.index}" = 0 ] || echo --headless)'
    return (
        f"{words} --pipeline-parallel-size {choices.pods} --nnodes ${names.size}"
        f" --node-rank ${names.index} --master-addr ${names.leader} {headless}"
    )


ENGINES: Mapping[str, Engine] = {
    "sglang": Engine("lmsysorg/sglang:latest", _start_sglang),
    "vllm": Engine("vllm/vllm-openai:latest", _start_vllm),
}


_LWS_VARIABLES = Variables(
    lws.LEADER_ADDRESS_VARIABLE, lws.GROUP_SIZE_VARIABLE, lws.WORKER_INDEX_VARIABLE
)
_MS_VARIABLES = Variables(
    ms.ENTRY_ADDRESS_VARIABLE, ms.GROUP_SIZE_VARIABLE, ms.WORKER_INDEX_VARIABLE
)
_RBG_VARIABLES = Variables(
    rbg.LEADER_ADDRESS_VARIABLE, rbg.GROUP_SIZE_VARIABLE, rbg.WORKER_INDEX_VARIABLE
)


def _write_pod(choices: Choices, names: Variables, depth: int) -> str:
    command = ENGINES[choices.engine].command(choices, names)
    return indent(
        f"""\
spec:
  containers:
    - name: engine
      image: {choices.image}
      command:
        - sh
        - -c
        # Every pod runs the same line; the variables tell it its place in the group.
        - |
          exec {command}
      ports:
        - containerPort: {PORT}
      # Without a readinessProbe a pod counts as ready while it still loads the model. Add one
      # (httpGet /health, port {PORT}) to the pods that listen: with some engines only the first.
      resources:
        limits:
          nvidia.com/gpu: {choices.gpus}
      volumeMounts:
        - name: shared-memory
          mountPath: /dev/shm
  volumes:
    # Engines exchange tensors through shared memory, of which a container has 64 MB otherwise.
    - name: shared-memory
      emptyDir:
        medium: Memory
""",
        " " * depth,
    )


def _write_head(choices: Choices, kind: str, unit: str) -> str:
    total = choices.replicas * choices.pods * choices.gpus
    units, pods = count(choices.replicas, unit), count(choices.pods, "pod")
    return f"""\
# {choices.model} with {choices.engine}: {units} of {pods}, {choices.gpus} GPUs each,
# {total} GPUs in all.
#
#   kubectl apply -f FILE
#   kohort get {kind}/{choices.name} -w
#   kohort why {kind}/{choices.name}
"""


def write_lws(choices: Choices) -> str:
    """A LeaderWorkerSet."""
    return f"""\
{_write_head(choices, "lws", "group")}\
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata:
  name: {choices.name}
spec:
  # Each group serves the whole model; more groups serve more requests.
  replicas: {choices.replicas}
  rolloutStrategy:
    type: RollingUpdate
    rollingUpdateConfiguration:
      # One group at a time is replaced. With maxSurge 1 a new one is ready before an old one
      # goes, which needs the GPUs of one more group meanwhile.
      maxUnavailable: 1
      maxSurge: 0
  leaderWorkerTemplate:
    # Pods of a group, the leader included.
    size: {choices.pods}
    # The pods of a group depend on each other: if one fails, all start anew.
    restartPolicy: RecreateGroupOnPodRestart
    # Without a leaderTemplate of its own, the leader is made from this one, too.
    workerTemplate:
{_write_pod(choices, _LWS_VARIABLES, 6)}"""


def write_ms(choices: Choices) -> str:
    """A ModelServing."""
    return f"""\
{_write_head(choices, "ms", "group")}\
apiVersion: workload.serving.volcano.sh/v1alpha1
kind: ModelServing
metadata:
  name: {choices.name}
spec:
  # Each group has all roles.
  replicas: {choices.replicas}
  # If a pod fails, its whole group starts anew.
  recoveryPolicy: ServingGroupRecreate
  rolloutStrategy:
    type: ServingGroupRollingUpdate
  template:
    roles:
      # Add a role for each part of the model that scales by itself, such as prefill and decode.
      - name: engine
        replicas: 1
        # Pods of an instance beside its entry.
        workerReplicas: {choices.pods - 1}
        entryTemplate:
{_write_pod(choices, _MS_VARIABLES, 10)}\
{_write_workers(choices)}"""


def _write_workers(choices: Choices) -> str:
    if choices.pods == 1:
        return ""
    return f"        workerTemplate:\n{_write_pod(choices, _MS_VARIABLES, 10)}"


def write_rbg(choices: Choices) -> str:
    """A RoleBasedGroup."""
    several = f"""\
      # Each instance is a leader and its workers.
      leaderWorkerPattern:
        size: {choices.pods}
"""
    one = "      # Each instance is one pod.\n      standalonePattern:\n"
    return f"""\
{_write_head(choices, "rbg", "instance")}\
apiVersion: workloads.x-k8s.io/v1alpha2
kind: RoleBasedGroup
metadata:
  name: {choices.name}
spec:
  roles:
    # Add roles such as a router, with `dependencies: [engine]` if it starts after this one.
    - name: engine
      replicas: {choices.replicas}
      restartPolicy: RecreateRoleInstanceOnPodRestart
{several if choices.pods > 1 else one}\
        template:
{_write_pod(choices, _RBG_VARIABLES, 10)}"""


def write_isvc(choices: Choices) -> str:
    """An InferenceService, with the model and the runtime that it is resolved with."""
    return f"""\
{_write_head(choices, "isvc", "replica")}\
# What is served, and where nodes find its files.
apiVersion: ome.io/v1beta1
kind: ClusterBaseModel
metadata:
  name: {choices.name}
spec:
  modelFormat:
    name: safetensors
    version: "1.0.0"
  modelFramework:
    name: transformers
    version: "4.43.0"
  # A runtime is chosen that supports format, framework and architecture.
  modelArchitecture: LlamaForCausalLM
  modelParameterSize: 8B
  storage:
    storageUri: hf://{choices.model}
    path: /mnt/models/{choices.name}
{_write_runtime(choices)}\
---
apiVersion: ome.io/v1beta1
kind: InferenceService
metadata:
  name: {choices.name}
  annotations:
    # Without it each component is a Deployment of its own.
    ome.io/deploymentMode: RoleBasedGroup
spec:
  model:
    name: {choices.name}
  runtime:
    name: {choices.name}-{choices.engine}
  engine:
    # An autoscaler stays between these.
    minReplicas: {choices.replicas}
    maxReplicas: {choices.replicas}
"""


def _write_runtime(choices: Choices) -> str:
    words = ENGINES[choices.engine].command(choices, _LWS_VARIABLES)
    command = words.replace(choices.model, "$MODEL_PATH")
    return f"""\
---
# How it is served: the container of the engine. Many services can share a runtime.
apiVersion: ome.io/v1beta1
kind: ClusterServingRuntime
metadata:
  name: {choices.name}-{choices.engine}
spec:
  supportedModelFormats:
    - name: safetensors
      modelFormat:
        name: safetensors
        version: "1.0.0"
      modelFramework:
        name: transformers
        version: "4.43.0"
      modelArchitecture: LlamaForCausalLM
      autoSelect: true
      priority: 1
  engineConfig:
    runner:
      name: ome-container
      image: {choices.image}
      command:
        - sh
        - -c
        - |
          exec {command}
      ports:
        - containerPort: {PORT}
      resources:
        limits:
          nvidia.com/gpu: {choices.gpus}
"""


@dataclass(frozen=True, slots=True)
class Writer:
    """How manifests of one API are written."""

    write: Callable[[Choices], str]
    pods_max: int = 100_000  # of one replica


WRITERS: Mapping[str, Writer] = {
    "lws": Writer(write_lws),
    "ms": Writer(write_ms),
    "rbg": Writer(write_rbg),
    "isvc": Writer(write_isvc, pods_max=1),
}
