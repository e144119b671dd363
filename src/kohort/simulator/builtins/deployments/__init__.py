"""The simulated Deployment and ReplicaSet controllers."""
