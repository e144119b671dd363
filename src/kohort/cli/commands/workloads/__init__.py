"""Commands about workloads: to see them, to ask why, to steer their rollouts."""
