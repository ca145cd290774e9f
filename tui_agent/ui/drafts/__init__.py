"""What is being written: drafts and their pastes, earlier ones, completions, messages that wait."""
