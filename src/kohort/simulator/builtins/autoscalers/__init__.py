"""The HorizontalPodAutoscaler controller, with metrics from annotations."""
