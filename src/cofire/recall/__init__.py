"""Recall: from a question to ranked facts, one stage a module."""
