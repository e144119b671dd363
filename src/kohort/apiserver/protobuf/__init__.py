"""Kubernetes objects in protobuf, read with a table of message fields."""
