"""What is allowed in a schedule, and slow or of no effect: warnings, none of which changes what is made."""
