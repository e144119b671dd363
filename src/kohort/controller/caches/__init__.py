"""What the controller knows: watchers that fill caches, and the caches that plans read."""
