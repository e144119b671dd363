"""A Kubernetes API server without etcd, which knows neither scheduler nor kubelet."""
