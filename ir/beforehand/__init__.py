"""What a caller can have done once: the part of a kernel that constant inputs and sizes decide."""
