"""What texts say: words, names, subjects, dates, causes and contradictions."""
