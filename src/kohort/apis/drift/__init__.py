"""What other clients edited of objects that we made: how it is seen, put back and told."""
