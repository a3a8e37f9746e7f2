"""From a prompt to a Scene."""
