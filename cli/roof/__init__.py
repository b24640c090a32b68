"""What this machine can do at most, measured, and which share of it a run reaches."""
