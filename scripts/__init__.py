"""Scripts that set up, test, lock and describe the project."""
