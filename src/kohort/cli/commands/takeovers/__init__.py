"""The commands below ``kohort takeover``, one in each file."""
