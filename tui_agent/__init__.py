"""A full-screen coding agent for people who live on the keyboard."""

__version__ = "0.1.0"
