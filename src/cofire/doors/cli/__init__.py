"""The command line `cofire`: each module a few commands, `main` the way in and the way out."""
