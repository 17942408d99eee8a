"""Pure functions on numbers and arrays, each with its equation and source."""
