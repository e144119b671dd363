"""What commands that stay are made of: the operator, alone or inside a cluster, and its end."""
