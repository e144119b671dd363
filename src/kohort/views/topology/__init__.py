"""What people are shown of a network: which domains there are, and which pods run where."""
