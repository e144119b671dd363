"""The simulated control plane around an API server: scheduler, kubelet, controllers and nodes."""
