"""How commands that run until they are stopped start the operator, a sample, and their own end."""
