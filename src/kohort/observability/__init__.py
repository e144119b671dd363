"""What the operator tells about itself: numbers for machines, lines for people."""
