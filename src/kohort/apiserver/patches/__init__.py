"""JSON patch, merge patch and server-side apply with its field ownership."""
