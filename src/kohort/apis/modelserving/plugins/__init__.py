"""
Plugins: code of Kohort or of other packages that changes pods of a ModelServing on creation.

The operator calls each plugin for each new pod in its scope, in the order of the list, with the
changes of earlier plugins. A plugin is pure. If one fails, or is not installed, the operator does
not create the pod, and the status of the workload names the plugin.
"""
