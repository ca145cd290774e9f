"""Models behind the library's one protocol: the Messages API, a script for the demo, and patience."""
