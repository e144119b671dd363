"""How commands about workloads are asked for, and where they read and write."""
