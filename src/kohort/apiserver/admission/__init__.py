"""Admission and conversion webhooks: which are called, with which review, and how they answer."""
