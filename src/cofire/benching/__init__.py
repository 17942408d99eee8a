"""Benching: how well recall works, measured on evaluation sets beside baselines. Nothing here is needed to remember or recall."""
