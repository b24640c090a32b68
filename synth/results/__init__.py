"""Solutions checked, priced and turned into movements."""
