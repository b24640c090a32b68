"""The e-graph and its rules: encoding, running, reading back."""
