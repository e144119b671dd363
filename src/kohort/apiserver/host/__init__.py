"""What a served cluster needs on this machine: certificates, a token and a kubeconfig."""
