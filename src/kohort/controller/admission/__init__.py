"""Admission: what the webhooks of all APIs answer, and the server that they are asked at."""
