"""The API server's URL and our credentials: from kubeconfig files, or from inside a pod."""
