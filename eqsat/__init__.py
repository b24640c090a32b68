"""The choice of tensor instructions by equality saturation: nothing is matched by name, all by rules."""
