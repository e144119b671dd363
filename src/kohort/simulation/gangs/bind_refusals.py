"""
An API that may refuse to bind pods: so a gang that was placed whole arrives by halves.
"""

from kohort.apiserver.api.api import ApiServer
from kohort.apiserver.api.requests import Answer, Target, WriteOptions
from kohort.cluster.errors import InternalError
from kohort.cluster.objects import Object


class BindingApi(ApiServer):
    """The API of a simulation; of the binds that come, some are refused if that is asked for."""

    refused_each = 0  # of so many binds the last is refused; 0: none
    _binds = 0

    async def create(
        self, target: Target, body: Object, options: WriteOptions, *, raw: bytes | None = None
    ) -> Answer:
        """Make an object, or bind a pod, if nothing goes wrong."""
        if target.subresource == "binding" and self.refused_each:
            self._binds += 1
            if self._binds % self.refused_each == 0:
                raise InternalError("etcdserver: request timed out")
        return await super().create(target, body, options, raw=raw)
