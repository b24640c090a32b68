"""IR to IR for any machine, a file a pass of `cli/pipeline`; each keeps the meaning bit by bit."""
