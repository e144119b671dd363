"""
From a service and the objects that it references to model, runtime, components and modes.

One step without side effects. It gives a reason for every choice, and for every runtime that it
did not choose.
"""

from kohort.apis.inferenceservice.resolution.migration import migrate
from kohort.apis.inferenceservice.resolution.resolution import (
    ReferencedObjects,
    Resolution,
    resolve,
)

__all__ = ["ReferencedObjects", "Resolution", "migrate", "resolve"]
