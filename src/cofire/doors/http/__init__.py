"""The HTTP door: REST over the verbs, streams of progress, and the page. Its packages come with the extra cofire[serve]."""
