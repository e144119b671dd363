"""The kubelet: one component for all nodes, which moves pods through their life cycle."""

from kohort.simulator.kubelet.component import Kubelet
from kohort.simulator.kubelet.logs import render_log

__all__ = ["Kubelet", "render_log"]
