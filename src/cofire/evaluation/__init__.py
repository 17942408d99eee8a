"""Measure recall quality on evaluation sets, beside baselines."""
