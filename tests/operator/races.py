"""What other clients do between the operator's decision and its request."""

from collections.abc import Awaitable, Callable
from typing import Any

from operator_lab import CountingCluster

from kohort.cluster.objects import Kind, Object
from kohort.cluster.port import Address


def act_before_patch(
    cluster: CountingCluster,
    kind: Kind,
    act: Callable[[], Awaitable[Any]],
    concerns: Callable[[Address, Any], bool] = lambda address, body: True,
) -> list[Any]:
    """Let another client act once, right before a patch arrives; returns the bodies so far."""
    patch, bodies = cluster.patch, []

    async def answer(address: Address, body: Any, *args: Any, **options: Any) -> Object:
        if address.kind == kind and concerns(address, body):
            bodies.append(body)
            if len(bodies) == 1:
                await act()
        made: Object = await patch(address, body, *args, **options)
        return made

    cluster.patch = answer  # type: ignore[method-assign]
    return bodies
