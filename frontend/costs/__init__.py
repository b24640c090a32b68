"""What automatic schedules weigh: which Func reads which part of which, and what loops over it cost on a
machine."""
