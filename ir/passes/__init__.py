"""IR to IR for any machine, a file a pass of `cli/passes.py`; each keeps the meaning bit by bit."""
