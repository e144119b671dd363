"""How manifests are checked without a cluster: where their fields stand, and what is wrong."""
