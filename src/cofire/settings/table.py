"""Every setting declared once, by section, and Settings, their values in layers."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any

from cofire.errors import InvalidSetting, UnknownSetting
from cofire.settings.knobs import KNOBS, Knob, T, declare
from cofire.settings.presets import PRESETS

ABSTENTION_RULE = declare(
    Knob(
        "abstention.rule",
        "evidence",
        "When memory says that it knows nothing: too little evidence, the documented gate on activation, or never (off).",
        "000; measured",
        choices=("evidence", "gate", "off"),
    )
)
ABSTENTION_THRESHOLD = declare(
    Knob(
        "abstention.threshold",
        0.0,
        "Evidence below which memory is silent; 0 is the embedding model's own calibrated value.",
        "measured",
        low=0,
        high=2,
    )
)
ABSTENTION_WORDS = declare(
    Knob(
        "abstention.words",
        0.1,
        "What the share of the question's words counts beside the cosine.",
        "measured",
        low=0,
        high=10,
    )
)
ABSTENTION_RARITY = declare(
    Knob(
        "abstention.rarity",
        0.003,
        "What the rarity of those words of the question that a fact holds counts beside that, all added up.",
        "measured",
        low=0,
        high=1,
    )
)
ABSTENTION_SIZE = declare(
    Knob("abstention.size", 0.018, "What the logarithm of the number of facts takes away.", "measured", low=0, high=1)
)
ABSTENTION_UNKNOWN = declare(
    Knob(
        "abstention.unknown",
        0.012,
        "What words that memory has never met add to that; naming one who speaks in it, or what facts are about, takes as much off.",
        "measured",
        low=0,
        high=1,
    )
)
ABSTENTION_LEXICAL_THRESHOLD = declare(
    Knob(
        "abstention.lexical_threshold",
        0.1,
        "Evidence by words alone below which memory is silent, where there is no calibrated embedder.",
        "measured",
        low=0,
        high=1,
    )
)


DECAY_CLOCK = declare(
    Knob(
        "decay.clock",
        "use",
        "Which days count when edges fade and facts lie unused: days on which the memory was in use, or those of the calendar.",
        "000; cofire",
        choices=("use", "calendar"),
        kept=True,
    )
)
DECAY_GRACE_DAYS = declare(
    Knob(
        "decay.grace_days",
        30,
        "Days without strengthening before an edge's weight fades.",
        "000",
        low=0,
        high=10_000,
        kept=True,
    )
)
DECAY_RATE = declare(
    Knob("decay.rate", 0.01, "What a weight loses a day then, as e^(-rate·days).", "000", low=0, high=1, kept=True)
)
DECAY_END_BELOW = declare(
    Knob("decay.end_below", 0.05, "Weight below which a faded edge ends.", "000", low=0, high=1, kept=True)
)
DECAY_CONFIDENCE_GRACE_DAYS = declare(
    Knob(
        "decay.confidence_grace_days",
        90,
        "Days without being seen again before an edge's confidence falls.",
        "001",
        low=0,
        high=10_000,
        kept=True,
    )
)
DECAY_CONFIDENCE_DAYS = declare(
    Knob("decay.confidence_days", 90, "Days for which it falls by one step.", "001", low=1, high=10_000, kept=True)
)
DECAY_CONFIDENCE_STEP = declare(
    Knob("decay.confidence_step", 0.1, "How far a confidence falls each time.", "001", low=0, high=1, kept=True)
)
DECAY_CONFIDENCE_FLOOR = declare(
    Knob("decay.confidence_floor", 0.1, "Confidence below which it does not fall.", "001", low=0, high=1, kept=True)
)
EDGE_PRUNE_THRESHOLD = declare(
    Knob(
        "edge_prune_threshold",
        0.10,
        "Weight below which similarity edges are taken away.",
        "002",
        low=0,
        high=1,
        kept=True,
    )
)
RETENTION_DAYS = declare(
    Knob(
        "retention.days",
        0,
        "Days after which a fact that was neither told again nor recalled is archived; 0 is never.",
        "cofire",
        low=0,
        high=100_000,
        kept=True,
    )
)
RETENTION_KEEP = declare(
    Knob(
        "retention.keep",
        "",
        "Categories that are not archived for lying unused, separated by commas: decision,preference.",
        "cofire",
        kept=True,
    )
)
BUDGET_FACTS = declare(
    Knob(
        "budget.facts",
        0,
        "Facts that may be in recall; curate archives the least valuable of more. 0 is no limit.",
        "cofire",
        low=0,
        high=1_000_000_000,
        kept=True,
    )
)
BUDGET_BYTES = declare(
    Knob(
        "budget.bytes",
        0,
        "Bytes that the texts and vectors of facts in recall may fill; curate archives the least valuable. 0 is no limit.",
        "cofire",
        low=0,
        high=1_000_000_000_000,
        kept=True,
    )
)
REVIEW_ENABLED = declare(
    Knob(
        "review.enabled",
        True,
        "Whether curate looks for facts that seem to say otherwise of the same thing, and proposes them for review.",
        "cofire",
        kept=True,
    )
)
REVIEW_APPLY_CLEAR = declare(
    Knob(
        "review.apply_clear",
        False,
        "Whether curate lets the newer fact supersede the older by itself where the evidence is clear; unsupersede takes it back.",
        "cofire",
        kept=True,
    )
)
CURATE_EVERY_HOURS = declare(
    Knob(
        "curate.every_hours",
        0.0,
        "Hours after which an open memory curates by itself in the background; 0 is never.",
        "cofire",
        low=0,
        high=100_000,
    )
)


ENERGY_MAX_DEPTH = declare(
    Knob(
        "energy.max_depth",
        5,
        "How many links a path of explore may follow.",
        "003",
        low=1,
        high=100,
        alias="MAX_DEPTH",
    )
)
ENERGY_MIN_ACTIVATION = declare(
    Knob(
        "energy.min_activation",
        0.005,
        "Energy that must be exceeded for a path to go on.",
        "003",
        low=0,
        high=1,
        alias="MIN_ACTIVATION",
    )
)
ENERGY_TAG_FLOOR = declare(
    Knob(
        "energy.tag_floor",
        0.15,
        "What a link without a tag of the question conducts.",
        "003",
        low=0,
        high=1,
        alias="TAG_SIM_FLOOR",
    )
)
ENERGY_BRANCHES = declare(
    Knob(
        "energy.branches",
        3,
        "How many neighbours each fact passes energy to.",
        "003",
        low=1,
        high=1_000,
        alias="MAX_BRANCHES",
    )
)
ENERGY_SEEDS = declare(
    Knob("energy.seeds", 5, "How many facts explore starts from when it is asked a question.", "003", low=1, high=100)
)


FORGET_UNDO_DAYS = declare(
    Knob(
        "forget.undo_days",
        30,
        "Days for which what is forgotten can be brought back by its receipt; 0 writes none.",
        "cofire",
        low=0,
        high=10_000,
    )
)


MULTI_GRAPH_ENABLED = declare(
    Knob(
        "multi_graph.enabled",
        True,
        "Whether facts are wired into a graph at all.",
        "001",
        alias="multiGraphMemoryEnabled",
        kept=True,
    )
)
MULTI_GRAPH_ENTITY = declare(
    Knob("multi_graph.entity", True, "Whether facts are linked through names.", "001", kept=True)
)
MULTI_GRAPH_TIME = declare(Knob("multi_graph.time", True, "Whether turns of a session are linked.", "001", kept=True))
MULTI_GRAPH_CAUSAL = declare(
    Knob("multi_graph.causal", True, "Whether causes are linked to effects.", "001", kept=True)
)
MULTI_GRAPH_SEMANTIC = declare(
    Knob("multi_graph.semantic", True, "Whether near neighbours are linked.", "000", kept=True)
)
MULTI_GRAPH_SIMILAR = declare(
    Knob("multi_graph.similar", True, "Whether facts of a high edge score are linked.", "002", kept=True)
)
MULTI_GRAPH_REACH = declare(
    Knob(
        "multi_graph.reach", 3, "How many turns back a turn is linked in its session.", "001", low=0, high=20, kept=True
    )
)
MULTI_GRAPH_NEIGHBOURS = declare(
    Knob("multi_graph.neighbours", 3, "Near neighbours a fact is linked to.", "000", low=0, high=50, kept=True)
)
MULTI_GRAPH_FLOOR = declare(
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
AUTO_LINK_ENABLED = declare(
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
EVOLUTION_ENABLED = declare(
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
EDGE_SCORE_MINIMUM_COSINE = declare(
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
EDGE_SCORE_COSINE = declare(Knob("edge_score.cosine", 0.55, "Weight of the cosine.", "002", low=0, high=1, kept=True))
EDGE_SCORE_TAGS = declare(Knob("edge_score.tags", 0.20, "Weight of shared tags.", "002", low=0, high=1, kept=True))
EDGE_SCORE_CATEGORY = declare(
    Knob("edge_score.category", 0.15, "Weight of the category.", "002", low=0, high=1, kept=True)
)
EDGE_SCORE_TEMPORAL = declare(
    Knob("edge_score.temporal", 0.10, "Weight of closeness in time.", "002", low=0, high=1, kept=True)
)
EDGE_SCORE_SIGMA_HOURS = declare(
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
EDGE_SCORE_CROSS_CATEGORY = declare(
    Knob("edge_score.cross_category", 0.30, "What two different categories count.", "002", low=0, high=1, kept=True)
)
EDGE_DEGREE_CAP = declare(
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
DREAM_GROWTH = declare(
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
PAGERANK_DAMPING = declare(
    Knob("pagerank.damping", 0.85, "Chance that a walk goes on.", "000", low=0, high=0.999, kept=True)
)
DREAM_BRIDGES = declare(
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
SESSION_IDLE_MINUTES = declare(
    Knob("session.idle_minutes", 30.0, "Pause after which a session has ended.", "002", low=0.01, high=1_440, kept=True)
)
READING_TAGS = declare(
    Knob(
        "reading.tags",
        False,
        "Whether key phrases of a text become its tags where none are given.",
        "cofire",
        kept=True,
    )
)
READING_READER = declare(
    Knob("reading.reader", "rules", "What reads texts: rules, spacy, or llm:MODEL@URL.", "cofire", kept=True)
)


RECALL_LOG_ENABLED = declare(
    Knob(
        "recall_log.enabled",
        True,
        "Whether it is logged which facts a recall showed, so that feedback can name the recall.",
        "cofire",
    )
)
RECALL_LOG_MOST = declare(
    Knob(
        "recall_log.most",
        10_000,
        "Recalls that the log keeps; older ones go.",
        "cofire",
        low=1,
        high=10_000_000,
        kept=True,
    )
)
HEBBIAN_RULE = declare(
    Knob(
        "hebbian.rule",
        "earned",
        "What exposure teaches: earned (a pair shown in three sessions is strengthened), documented (every recall strengthens "
        "all pairs), or off.",
        "000; measured",
        choices=("earned", "documented", "off"),
        kept=True,
    )
)
PRIOR_PAGERANK = declare(
    Knob("prior.pagerank", 0.0, "Weight in fusion of a fact's PageRank beside the highest.", "000", low=0, high=100)
)
PRIOR_COMMUNITY = declare(
    Knob(
        "prior.community",
        0.0,
        "Weight in fusion of how many of the best facts are of a fact's own community.",
        "000",
        low=0,
        high=100,
    )
)
PRIOR_SUCCESS = declare(
    Knob(
        "prior.success",
        0.0,
        "Weight in fusion of how often a fact helped rather than hurt.",
        "cofire",
        low=0,
        high=100,
    )
)
PRIOR_OCCASION = declare(
    Knob(
        "prior.occasion",
        0.6,
        "Weight in fusion of how surely a fact helped before, when much the same facts came to mind.",
        "cofire; measured",
        low=0,
        high=100,
    )
)


SPREADING_ACTIVATION_ENABLED = declare(
    Knob("spreading_activation.enabled", True, "Whether activation takes part in fusion as a channel.", "000")
)
ACTIVATION_DYNAMICS = declare(
    Knob(
        "activation.dynamics",
        "cofire",
        "How activation spreads: cofire's own walk over names, SYNAPSE as documented or as in its paper, diffusion or energy.",
        "000, 001, 003; measured",
        choices=("cofire", "synapse.documented", "synapse.paper", "diffusion", "energy"),
    )
)
ACTIVATION_WEIGHT = declare(
    Knob(
        "activation.weight",
        1.0,
        "Weight in fusion of the activation channel under the documented dynamics.",
        "000",
        low=0,
        high=100,
    )
)
SPREADING_ACTIVATION_ALPHA = declare(
    Knob("spreading_activation.alpha", 1.0, "What a seed's similarity is multiplied by.", "000", low=0, high=10)
)
SPREADING_ACTIVATION_DELTA = declare(
    Knob("spreading_activation.delta", 0.5, "What a fact keeps of its activation.", "000", low=0, high=1)
)
SPREADING_ACTIVATION_SPREADING_FACTOR = declare(
    Knob("spreading_activation.spreading_factor", 0.8, "What a fact passes on.", "000", low=0, high=10)
)
SPREADING_ACTIVATION_THETA = declare(
    Knob("spreading_activation.theta", 0.5, "Where the sigmoid turns.", "000", low=-10, high=10)
)
SPREADING_ACTIVATION_TOP_M = declare(
    Knob("spreading_activation.top_m", 7, "Facts that stay active after a round.", "000", low=1, high=10_000)
)
SPREADING_ACTIVATION_MAX_ITERATIONS = declare(
    Knob("spreading_activation.max_iterations", 3, "Rounds of spreading.", "000", low=1, high=100)
)
SPREADING_ACTIVATION_TAU_GATE = declare(
    Knob(
        "spreading_activation.tau_gate",
        0.12,
        "Activation that the strongest fact must reach for SYNAPSE to answer at all.",
        "000",
        low=0,
        high=1,
    )
)
SYNAPSE_SLOPE = declare(
    Knob("synapse.slope", 5.0, "Slope of the sigmoid in the paper's form.", "SYNAPSE paper", low=0.1, high=100)
)
SYNAPSE_INHIBITION = declare(
    Knob("synapse.inhibition", 0.15, "Lateral inhibition in the paper's form.", "SYNAPSE paper", low=0, high=10)
)
GRAPH_RECALL_ENABLED = declare(
    Knob(
        "graph_recall.enabled",
        True,
        "Whether a question of several hops may be answered in graph mode.",
        "001",
        alias="graphRecallEnabled",
    )
)
GRAPH_ASSIST_ENABLED = declare(
    Knob(
        "graph_assist.enabled",
        True,
        "Whether a full recall goes on from its own best results.",
        "001",
        alias="graphAssistInFullModeEnabled",
    )
)
GRAPH_ASSIST_MIN_SEED_RESULTS = declare(
    Knob(
        "graph_assist.min_seed_results",
        3,
        "Results that the channels must find before a full recall goes on from them.",
        "001",
        low=0,
        high=1_000,
        alias="graphAssistMinSeedResults",
    )
)
GRAPH_RECALL_STEPS = declare(
    Knob(
        "graph_recall.steps",
        3,
        "Hops that activation goes at most.",
        "001",
        low=1,
        high=100,
        alias="maxGraphTraversalSteps",
    )
)
GRAPH_RECALL_SEEDS = declare(
    Knob(
        "graph_recall.seeds",
        5,
        "Facts that activation starts from (documented: 10).",
        "001; measured",
        low=1,
        high=100,
        alias="graphRecallMaxSeedNodes",
    )
)
GRAPH_RECALL_EXPANDED = declare(
    Knob(
        "graph_recall.expanded",
        40,
        "Facts that activation keeps of those it reaches (documented: 30).",
        "001; measured",
        low=1,
        high=10_000,
        alias="graphRecallMaxExpandedNodes",
    )
)
GRAPH_RECALL_MIN_SEED_SCORE = declare(
    Knob(
        "graph_recall.min_seed_score",
        0.0,
        "What a seed must count beside the best one, from 0 to 1 (documented: 0.3).",
        "001; measured",
        low=0,
        high=1,
        alias="graphRecallMinSeedScore",
    )
)
GRAPH_RECALL_CONFIDENCE_FLOOR = declare(
    Knob(
        "graph_recall.confidence_floor",
        0.2,
        "Confidence below which a link is not followed.",
        "001",
        low=0,
        high=1,
        alias="graphTraversalConfidenceFloor",
    )
)
GRAPH_RECALL_EXPLAIN = declare(
    Knob(
        "graph_recall.explain",
        True,
        "Whether a recall keeps the paths and rounds of activation, for the x-ray.",
        "001",
        alias="graphRecallExplainEnabled",
    )
)
GRAPH_RECALL_EXPLAIN_DOORS = declare(
    Knob(
        "graph_recall.explain_doors",
        True,
        "Whether the command line and other doors explain recalls: why, and the x-ray.",
        "001",
        alias="graphRecallExplainToolEnabled",
    )
)
DIFFUSION_DECAY = declare(Knob("diffusion.decay", 0.7, "What is left of activation after a hop.", "001", low=0, high=1))
DIFFUSION_ITERATIONS = declare(
    Knob(
        "diffusion.iterations",
        8,
        "Rounds of PageRank-like refinement after diffusion; 0 is none.",
        "001",
        low=0,
        high=1_000,
        alias="graphTraversalPageRankIterations",
    )
)
DIFFUSION_DAMPING = declare(Knob("diffusion.damping", 0.85, "Damping of that refinement.", "001", low=0, high=0.999))
ACTIVATION_MOST_LINKS = declare(
    Knob(
        "activation.most_links",
        64,
        "Links that are followed from one fact, the strongest first.",
        "cofire",
        low=1,
        high=100_000,
    )
)
STRATEGY_ENABLED = declare(
    Knob(
        "strategy.enabled",
        False,
        "Whether the kind of question, found by rules, changes the weight of activation; a strategy asked for always does.",
        "000; measured",
    )
)
BRIDGES_ENABLED = declare(
    Knob(
        "bridges.enabled",
        False,
        "Whether a recall also brings facts that connect two of its results which nothing else connects.",
        "000; measured",
    )
)
BRIDGES_MOST = declare(Knob("bridges.most", 3, "Bridges that a recall brings at most.", "cofire", low=1, high=1_000))
BRIDGES_DECAY = declare(
    Knob("bridges.decay", 0.7, "What is left over each of the two links of a bridge.", "cofire", low=0, high=1)
)
RECALL_NEWER_FIRST = declare(
    Knob(
        "recall.newer_first",
        True,
        "Whether the newest of several versions of one fact comes first. Facts that are only older keep their places.",
        "measured on the tuning half of benchmarks/sets/changes",
    )
)
FUSION_COVERAGE = declare(
    Knob(
        "fusion.coverage",
        0.8,
        "What it counts that a fact is the first to hold words of the question; 0 is nothing.",
        "measured on the tuning halves",
        low=0,
        high=100,
    )
)


SHADOW_ENABLED = declare(
    Knob(
        "shadow.enabled",
        False,
        "Whether each recall is run once more under a second configuration and compared, without changing the answer.",
        "001",
        alias="graphRecallShadowEnabled",
    )
)
SHADOW_PRESET = declare(
    Knob("shadow.preset", "research-max", "The preset of that second configuration.", "cofire", choices=tuple(PRESETS))
)
SHADOW_SETTINGS = declare(
    Knob(
        "shadow.settings",
        "",
        "Settings that lie over that preset: NAME=VALUE, separated by commas, or an object in JSON.",
        "cofire",
    )
)
SHADOW_ASSIST = declare(
    Knob(
        "shadow.assist",
        False,
        "Whether each recall is run once more with graph_assist.enabled the other way round and compared.",
        "001",
        alias="graphAssistShadowEvalEnabled",
    )
)
SNAPSHOTS_ENABLED = declare(
    Knob(
        "snapshots.enabled",
        False,
        "Whether each recall leaves a snapshot: the question, and the ids that came back by which way.",
        "001",
        alias="graphRecallSnapshotEnabled",
    )
)
SNAPSHOTS_MOST = declare(
    Knob(
        "snapshots.most",
        200,
        "Snapshots, and comparisons, that are kept; older ones go.",
        "cofire",
        low=1,
        high=100_000,
    )
)
SNAPSHOTS_FOLDER = declare(
    Knob(
        "snapshots.folder",
        "",
        "Where snapshots and comparisons are kept; empty is beside the store, in a folder of its name and .snapshots.",
        "cofire",
    )
)


SETTINGS_RECORD = "settings"
SETTING_LAYERS = ("default", "preset", "file", "store", "environment", "call")


PRESET = declare(
    Knob(
        "preset",
        "default",
        "A named set of settings that the others are laid upon.",
        "001",
        choices=tuple(PRESETS),
        alias="memoryOsPreset",
    )
)
EMBEDDER_NAME = declare(
    Knob(
        "embedder.name",
        "bundled",
        "What turns texts into vectors: bundled, none, openai:MODEL[@URL], ollama:MODEL[@URL], "
        "sentence-transformers:MODEL or fastembed:MODEL.",
        "cofire",
    )
)
REMEMBER_MAX_CHARACTERS = declare(
    Knob("remember.max_characters", 100_000, "The longest text of one fact.", "cofire", low=1, high=10_000_000)
)
REMEMBER_BATCH = declare(
    Knob(
        "remember.batch", 256, "Facts embedded and written together when many are given.", "cofire", low=1, high=10_000
    )
)
RECALL_K = declare(Knob("recall.k", 10, "How many facts a recall returns at most.", "cofire", low=1, high=1_000))
RECALL_BUDGET = declare(
    Knob(
        "recall.budget", 0, "Tokens that recalled texts may fill together; 0 is no limit.", "001", low=0, high=1_000_000
    )
)
RECALL_HEADROOM = declare(
    Knob(
        "recall.headroom",
        50,
        "Candidates each channel proposes, beyond k, for ranking.",
        "001; measured: with 20 a chat memory loses half a point, with 110 none wins one",
        low=1,
        high=5_000,
    )
)
SEMANTIC_ENABLED = declare(Knob("semantic.enabled", True, "Whether search by meaning takes part.", "000"))
SEMANTIC_WEIGHT = declare(
    Knob(
        "semantic.weight",
        0.17,
        "Weight of the meaning channel in fusion.",
        "measured on the tuning halves",
        low=0,
        high=100,
    )
)
SEMANTIC_METRIC = declare(
    Knob(
        "semantic.metric",
        "cosine",
        "How close two vectors are: their cosine, or the geodesic on the unit sphere.",
        "000",
        choices=("cosine", "fisher_rao"),
    )
)
SEMANTIC_CANDIDATES = declare(
    Knob(
        "semantic.candidates",
        1_000,
        "Facts that the compressed vector index hands to exact scoring.",
        "measured: of 100,000 facts, .99 of the first ten are those of a full scan",
        low=1,
        high=100_000,
    )
)
SEMANTIC_INDEX = declare(
    Knob(
        "semantic.index",
        "signs",
        "The vector index: signs (compressed scan), exact (full scan) or usearch (graph index, an extra, for very large stores).",
        "measured",
        choices=("signs", "exact", "usearch"),
        opens=True,
    )
)
KEYWORD_ENABLED = declare(Knob("keyword.enabled", True, "Whether search by words takes part.", "000"))
KEYWORD_WEIGHT = declare(
    Knob(
        "keyword.weight", 2.0, "Weight of the word channel in fusion.", "measured on the tuning halves", low=0, high=100
    )
)
KEYWORD_K1 = declare(
    Knob(
        "keyword.k1",
        0.8,
        "BM25: how soon repeating a word stops helping.",
        "measured on the tuning halves",
        low=0,
        high=10,
    )
)
KEYWORD_B = declare(
    Knob("keyword.b", 0.6, "BM25: how much long texts are held back.", "measured on the tuning halves", low=0, high=1)
)
KEYWORD_HINT_WEIGHT = declare(
    Knob(
        "keyword.hint_weight",
        0.05,
        "What a word of a description counts beside a word of the text.",
        "measured on the tuning halves",
        low=0,
        high=1,
    )
)
ENTITY_ENABLED = declare(
    Knob("entity.enabled", True, "Whether names in the question lead to the facts about them.", "000")
)
ENTITY_WEIGHT = declare(
    Knob(
        "entity.weight",
        0.635,
        "Weight of the entity channel in fusion.",
        "measured on the tuning halves",
        low=0,
        high=100,
    )
)
TEMPORAL_ENABLED = declare(
    Knob("temporal.enabled", True, "Whether times in the question lead to facts of that time.", "000")
)
TEMPORAL_WEIGHT = declare(
    Knob(
        "temporal.weight",
        0.9,
        "Weight of the time channel in fusion.",
        "measured on the tuning halves",
        low=0,
        high=100,
    )
)
CONTEXT_ENABLED = declare(
    Knob(
        "context.enabled",
        True,
        "Whether a turn of a session borrows words and meaning from the turns around it.",
        "measured on the tuning halves",
    )
)
FUSION_METHOD = declare(
    Knob(
        "fusion.method",
        "calibrated",
        "How channels are joined: calibrated scores, weighted reciprocal ranks as documented, or the hybrid of the SYNAPSE paper.",
        "000; measured",
        choices=("calibrated", "rrf", "hybrid"),
    )
)
FUSION_RRF_K = declare(Knob("fusion.rrf_k", 60, "The constant of reciprocal rank fusion.", "000", low=1, high=1_000))
STATISTICS_GROWTH = declare(
    Knob(
        "statistics.growth",
        0.1,
        "Share by which a scope may grow or shrink before its word statistics are counted anew.",
        "cofire",
        low=0,
        high=10,
        kept=True,
    )
)
STATISTICS_SAMPLE = declare(
    Knob(
        "statistics.sample",
        256,
        "Vectors a scope keeps as a sample of what a chance similarity is.",
        "cofire",
        low=0,
        high=10_000,
        kept=True,
    )
)
STORE_BUSY_SECONDS = declare(
    Knob(
        "store.busy_seconds",
        30.0,
        "How long to wait while another process writes.",
        "cofire",
        low=0,
        high=3_600,
        opens=True,
    )
)
STORE_ANSWER_SECONDS = declare(
    Knob(
        "store.answer_seconds",
        30.0,
        "How long a server may take for one transaction, and for a connection.",
        "cofire",
        low=0.1,
        high=3_600,
        opens=True,
    )
)
STORE_SYNCHRONOUS = declare(
    Knob(
        "store.synchronous",
        "full",
        "Whether each commit waits for the disk (full) or may lose the last ones on a power cut (normal).",
        "SQLite",
        choices=("full", "normal"),
        opens=True,
    )
)

SETTING_ALIASES = MappingProxyType({knob.alias: knob.name for knob in KNOBS.values() if knob.alias})


def find_knob(name: str) -> Knob[Any]:
    """The knob of this name or alias; a near miss is suggested when there is none."""
    if not isinstance(name, str):
        raise UnknownSetting(
            f"There is no setting {name!r}.", way_out="Give its name; see all with: cofire config list"
        )
    found = KNOBS.get(SETTING_ALIASES.get(name, name))
    if found is not None:
        return found
    ending = [one for one in KNOBS if one.endswith(f".{name}")]
    near = ending if len(ending) == 1 else get_close_matches(name, [*KNOBS, *SETTING_ALIASES], n=1, cutoff=0.5)
    hint = f"Did you mean {near[0]}? " if near else ""
    raise UnknownSetting(f"There is no setting {name!r}.", way_out=f"{hint}See all with: cofire config list")


def check_settings_mapping(given: object) -> dict[str, object]:
    """What somebody gives as settings, which must be values by name."""
    if not isinstance(given, Mapping) or not all(isinstance(name, str) for name in given):
        raise InvalidSetting(f"Settings cannot be {given!r}.", way_out='Give them by name, as in {"recall.k": 5}.')
    return dict(given)


@dataclass(frozen=True)
class Settings:
    """All values at once, each with the layer it came from. `settings[KNOB]` is typed as the knob's default.

    >>> settings = Settings.layered(call={"keyword.k1": 1.2})
    >>> settings[KEYWORD_K1], settings.layer_of(KEYWORD_K1), settings.layer_of(KEYWORD_B)
    (1.2, 'call', 'default')
    """

    values: Mapping[str, Any] = field(default_factory=dict)
    origins: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def layered(cls, **layers: Mapping[str, object]) -> Settings:
        """Lay the named layers over the defaults, in the order of `SETTING_LAYERS` whatever the order given."""
        read = {
            layer: {find_knob(name).name: find_knob(name).read(value) for name, value in layers.get(layer, {}).items()}
            for layer in SETTING_LAYERS
        }
        chosen = _last_layer_value(read, PRESET.name) or PRESET.default
        read["preset"] = {
            **{name: find_knob(name).read(value) for name, value in PRESETS[chosen].settings.items()},
            **read["preset"],
        }
        values = {name: value for layer in SETTING_LAYERS for name, value in read[layer].items()}
        return cls(values, {name: layer for layer in SETTING_LAYERS for name in read[layer]})

    def __getitem__(self, knob: Knob[T]) -> T:
        found: T = self.values.get(knob.name, knob.default)
        return found

    def layer_of(self, knob: Knob[Any]) -> str:
        return self.origins.get(knob.name, "default")

    def over(self, changes: Mapping[str, object]) -> Settings:
        """These settings with a call's own laid on top."""
        if not changes:
            return self
        layers: dict[str, dict[str, object]] = {layer: {} for layer in SETTING_LAYERS if layer != "preset"}
        for name, layer in self.origins.items():
            if layer != "preset":
                layers[layer][name] = self.values[name]
        return Settings.layered(**{**layers, "call": {**layers["call"], **changes}})

    def __iter__(self) -> Iterator[tuple[Knob[Any], Any]]:
        return ((one, self[one]) for one in KNOBS.values())


def decode_settings_record(value: bytes | None) -> dict[str, object]:
    """The store's own settings."""
    return dict(json.loads(value)) if value else {}


def encode_settings_record(values: Mapping[str, object]) -> bytes:
    return json.dumps(dict(sorted(values.items()))).encode("utf-8")


def _last_layer_value(read: Mapping[str, Mapping[str, Any]], name: str) -> Any:
    return next((read[layer][name] for layer in reversed(SETTING_LAYERS) if name in read[layer]), None)
