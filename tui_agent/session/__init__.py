"""Sessions: stored events as lines of a file, from which every screen and every history is made again."""
