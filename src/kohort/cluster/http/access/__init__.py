"""Who we are and where the server is: from kubeconfig files, or from inside a cluster."""
