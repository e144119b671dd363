"""
How an engine is started on one pod or on several that form one replica.

Each engine is a function from the choices of the user and the variables of the API to a
command line. The shell expands the variables, since only the pod knows its own index.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

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
