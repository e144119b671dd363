"""
Plugins: what others, and some of us, add to the pods of a ModelServing before they are created.

A plugin is asked about each new pod in its scope, in the order of the list, and sees what those
before it have done. It decides and never acts. One that fails, or is not installed, keeps the pod
from being created, and the workload says which plugin it was: never in silence.
"""
