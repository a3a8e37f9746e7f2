"""`python -m onprompt`."""

from onprompt.cli import main

main()
