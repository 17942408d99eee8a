"""The index in memory: arrays over all facts of a store that propose candidates. Fed by changes; knows nothing of SQL."""
