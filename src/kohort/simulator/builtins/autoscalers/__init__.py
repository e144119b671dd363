"""The HorizontalPodAutoscaler controller, with metrics that people set."""
