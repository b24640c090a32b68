"""What hbc asks of the machine that it runs on: folders, scratch files, bytes of files, signals."""
