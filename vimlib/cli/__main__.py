"""`python -m vimlib.cli`: the same as the installed `vimlib`."""

from vimlib.cli import main

main()
