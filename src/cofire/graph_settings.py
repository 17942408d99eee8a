"""The knobs that decide how the graph is written and consolidated, declared once: name, default, range, help, source."""

from __future__ import annotations

from cofire.knobs import Knob, declare

MULTI_GRAPH = declare(
    Knob(
        "multi_graph.enabled",
        True,
        "Whether facts are wired into a graph at all.",
        "001",
        alias="multiGraphMemoryEnabled",
        kept=True,
    )
)
ENTITY_EDGES = declare(Knob("multi_graph.entity", True, "Whether facts are linked through names.", "001", kept=True))
TIME_EDGES = declare(Knob("multi_graph.time", True, "Whether turns of a session are linked.", "001", kept=True))
CAUSAL_EDGES = declare(Knob("multi_graph.causal", True, "Whether causes are linked to effects.", "001", kept=True))
SEMANTIC_EDGES = declare(Knob("multi_graph.semantic", True, "Whether near neighbours are linked.", "000", kept=True))
SIMILAR_EDGES = declare(
    Knob("multi_graph.similar", True, "Whether facts of a high edge score are linked.", "002", kept=True)
)
REACH = declare(
    Knob(
        "multi_graph.reach", 3, "How many turns back a turn is linked in its session.", "001", low=0, high=20, kept=True
    )
)
SEMANTIC_MOST = declare(
    Knob("multi_graph.neighbours", 3, "Near neighbours a fact is linked to.", "000", low=0, high=50, kept=True)
)
SEMANTIC_FLOOR = declare(
    Knob(
        "multi_graph.floor",
        0.35,
        "Centred cosine below which neighbours are not near.",
        "measured",
        low=-1,
        high=1,
        kept=True,
    )
)
AUTO_LINK = declare(
    Knob("auto_link.enabled", True, "Whether a new fact is linked to like ones at once.", "000", kept=True)
)
AUTO_LINK_THRESHOLD = declare(
    Knob(
        "auto_link.threshold",
        0.0,
        "Centred cosine from which facts are linked; 0 is the model's own calibrated value (documented: 0.7).",
        "000; measured",
        low=0,
        high=1,
        kept=True,
    )
)
AUTO_LINK_MOST = declare(Knob("auto_link.most", 5, "Links that one new fact makes.", "000", low=1, high=100, kept=True))
AUTO_LINK_BATCH = declare(
    Knob(
        "auto_link.batch",
        64,
        "With more facts than this in one call, linking waits for the next dream.",
        "measured",
        low=0,
        high=10_000,
        kept=True,
    )
)
EVOLUTION = declare(
    Knob(
        "evolution.enabled",
        True,
        "Whether a linked old fact is described anew by its new connection.",
        "000",
        kept=True,
    )
)
EDGE_SCORE_THRESHOLD = declare(
    Knob(
        "edge_score_threshold",
        0.40,
        "Edge score from which facts are linked as similar.",
        "002",
        low=0,
        high=1,
        kept=True,
    )
)
MINIMUM_COSINE = declare(
    Knob(
        "edge_score.minimum_cosine",
        0.30,
        "Centred cosine below which the edge score is 0.",
        "002",
        low=0,
        high=1,
        kept=True,
    )
)
WEIGHT_COSINE = declare(Knob("edge_score.cosine", 0.55, "Weight of the cosine.", "002", low=0, high=1, kept=True))
WEIGHT_TAGS = declare(Knob("edge_score.tags", 0.20, "Weight of shared tags.", "002", low=0, high=1, kept=True))
WEIGHT_CATEGORY = declare(Knob("edge_score.category", 0.15, "Weight of the category.", "002", low=0, high=1, kept=True))
WEIGHT_TEMPORAL = declare(
    Knob("edge_score.temporal", 0.10, "Weight of closeness in time.", "002", low=0, high=1, kept=True)
)
SIGMA_HOURS = declare(
    Knob(
        "edge_score.sigma_hours",
        8.0,
        "Active hours at which closeness in time is e^-½.",
        "002",
        low=0.01,
        high=10_000,
        kept=True,
    )
)
CROSS_CATEGORY = declare(
    Knob("edge_score.cross_category", 0.30, "What two different categories count.", "002", low=0, high=1, kept=True)
)
DEGREE_CAP = declare(
    Knob("edge_degree_cap", 5, "Similarity edges that a fact has at most.", "002", low=1, high=1_000, kept=True)
)
DREAM_BATCH = declare(
    Knob(
        "dream.batch", 100_000, "Facts that a dream works through in one transaction.", "cofire", low=1, high=1_000_000
    )
)
DREAM_NEIGHBOURS = declare(
    Knob(
        "dream.neighbours",
        12,
        "Near facts that a dream scores for each fact.",
        "002; measured",
        low=1,
        high=200,
        kept=True,
    )
)
DREAM_SHARING = declare(
    Knob(
        "dream.sharing", 8, "Facts with a rare tag in common that it scores besides.", "002", low=0, high=200, kept=True
    )
)
IMPORTANCE_GROWTH = declare(
    Knob(
        "dream.growth",
        0.05,
        "Growth of the graph after which a dream ranks and groups it anew.",
        "cofire",
        low=0,
        high=10,
        kept=True,
    )
)
DAMPING = declare(Knob("pagerank.damping", 0.85, "Chance that a walk goes on.", "000", low=0, high=0.999, kept=True))
BRIDGES = declare(
    Knob("dream.bridges", 10, "Weak edges a dream may lay between communities.", "000", low=0, high=1_000, kept=True)
)
DREAM_AFTER_FACTS = declare(
    Knob(
        "dream.after_facts",
        0,
        "Waiting facts after which an open memory dreams by itself in the background; 0 is never.",
        "cofire",
        low=0,
        high=10_000_000,
    )
)
DREAM_AFTER_MINUTES = declare(
    Knob(
        "dream.after_minutes",
        0.0,
        "Minutes that facts wait before an open memory dreams by itself in the background; 0 is never.",
        "cofire",
        low=0,
        high=100_000,
    )
)
IDLE_MINUTES = declare(
    Knob("session.idle_minutes", 30.0, "Pause after which a session has ended.", "002", low=0.01, high=1_440, kept=True)
)
PROPOSE_TAGS = declare(
    Knob(
        "reading.tags",
        False,
        "Whether key phrases of a text become its tags where none are given.",
        "cofire",
        kept=True,
    )
)
READER = declare(
    Knob("reading.reader", "rules", "What reads texts: rules, spacy, or llm:MODEL@URL.", "cofire", kept=True)
)
