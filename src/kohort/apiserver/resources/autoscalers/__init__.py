"""HorizontalPodAutoscalers, as a built-in kind in two versions."""
