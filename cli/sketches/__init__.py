"""What `hbc synth` shows and writes."""
