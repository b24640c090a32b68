"""Statements as tensors, boxes and plans: which dimension of an instruction runs along which loop."""
