"""A picture of what lies around an answer, as one page of HTML that needs nothing else: no network, no script."""
