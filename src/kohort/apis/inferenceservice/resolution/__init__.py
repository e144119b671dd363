"""
From a service and what it names to what is to be deployed: model, runtime, components, modes.

One step without side effects. Every choice has a reason, and so has every runtime that was passed
over.
"""

from kohort.apis.inferenceservice.resolution.migration import migrate
from kohort.apis.inferenceservice.resolution.resolution import (
    ReferencedObjects,
    Resolution,
    resolve,
)

__all__ = ["ReferencedObjects", "Resolution", "migrate", "resolve"]
