"""The port to a Kubernetes cluster, and the words of Kubernetes that all packages share."""
