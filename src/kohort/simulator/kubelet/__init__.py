"""The kubelet: plays every node at once, and moves the pods on them through their lives."""

from kohort.simulator.kubelet.component import Kubelet
from kohort.simulator.kubelet.logs import render_log

__all__ = ["Kubelet", "render_log"]
