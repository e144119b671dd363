"""What commands about workloads share: their arguments, and how they read a cluster."""
