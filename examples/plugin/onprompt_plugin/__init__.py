"""One of everything that can be added to onprompt, each in a file of its own."""
