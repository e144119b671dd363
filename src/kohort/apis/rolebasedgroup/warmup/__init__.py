"""RoleBasedGroupWarmup: pulls images and loads models on nodes before a rollout needs them."""
