"""RoleBasedGroupWarmup: images and models that are brought to nodes before a rollout needs them."""
