"""Takeover: moves APIs from another controller to Kohort's operator, and back."""
