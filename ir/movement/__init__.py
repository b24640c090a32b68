"""Vectors whose elements lie apart in memory, as whole loads and stores with shuffles between them, which a
library knows."""
