"""The knobs of recall by the graph, under the names that the documents give them. Declared once: name, default, range, help, source."""

from __future__ import annotations

from cofire.knobs import Knob, declare

ACTIVATION = declare(
    Knob("spreading_activation.enabled", True, "Whether activation takes part in fusion as a channel.", "000")
)
DYNAMICS = declare(
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
ALPHA = declare(
    Knob("spreading_activation.alpha", 1.0, "What a seed's similarity is multiplied by.", "000", low=0, high=10)
)
DELTA = declare(Knob("spreading_activation.delta", 0.5, "What a fact keeps of its activation.", "000", low=0, high=1))
SPREADING_FACTOR = declare(
    Knob("spreading_activation.spreading_factor", 0.8, "What a fact passes on.", "000", low=0, high=10)
)
THETA = declare(Knob("spreading_activation.theta", 0.5, "Where the sigmoid turns.", "000", low=-10, high=10))
TOP_M = declare(
    Knob("spreading_activation.top_m", 7, "Facts that stay active after a round.", "000", low=1, high=10_000)
)
ITERATIONS = declare(Knob("spreading_activation.max_iterations", 3, "Rounds of spreading.", "000", low=1, high=100))
TAU_GATE = declare(
    Knob(
        "spreading_activation.tau_gate",
        0.12,
        "Activation that the strongest fact must reach for SYNAPSE to answer at all.",
        "000",
        low=0,
        high=1,
    )
)
SLOPE = declare(
    Knob("synapse.slope", 5.0, "Slope of the sigmoid in the paper's form.", "SYNAPSE paper", low=0.1, high=100)
)
INHIBITION = declare(
    Knob("synapse.inhibition", 0.15, "Lateral inhibition in the paper's form.", "SYNAPSE paper", low=0, high=10)
)
GRAPH_MODE = declare(
    Knob(
        "graph_recall.enabled",
        True,
        "Whether a question of several hops may be answered in graph mode.",
        "001",
        alias="graphRecallEnabled",
    )
)
ASSIST = declare(
    Knob(
        "graph_assist.enabled",
        True,
        "Whether a full recall goes on from its own best results.",
        "001",
        alias="graphAssistInFullModeEnabled",
    )
)
LEAST_RESULTS = declare(
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
STEPS = declare(
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
SEEDS = declare(
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
EXPANDED = declare(
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
LEAST_SEED = declare(
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
CONFIDENCE_FLOOR = declare(
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
EXPLAIN = declare(
    Knob(
        "graph_recall.explain",
        True,
        "Whether a recall keeps the paths and rounds of activation, for the x-ray.",
        "001",
        alias="graphRecallExplainEnabled",
    )
)
EXPLAIN_DOORS = declare(
    Knob(
        "graph_recall.explain_doors",
        True,
        "Whether the command line and other doors explain recalls: why, and the x-ray.",
        "001",
        alias="graphRecallExplainToolEnabled",
    )
)
DECAY = declare(Knob("diffusion.decay", 0.7, "What is left of activation after a hop.", "001", low=0, high=1))
REFINEMENT = declare(
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
DAMPING = declare(Knob("diffusion.damping", 0.85, "Damping of that refinement.", "001", low=0, high=0.999))
MOST_LINKS = declare(
    Knob(
        "activation.most_links",
        64,
        "Links that are followed from one fact, the strongest first.",
        "cofire",
        low=1,
        high=100_000,
    )
)
STRATEGY = declare(
    Knob(
        "strategy.enabled",
        False,
        "Whether the kind of question, found by rules, changes the weight of activation; a strategy asked for always does.",
        "000; measured",
    )
)
BRIDGES = declare(
    Knob(
        "bridges.enabled",
        False,
        "Whether a recall also brings facts that connect two of its results which nothing else connects.",
        "000; measured",
    )
)
BRIDGES_MOST = declare(Knob("bridges.most", 3, "Bridges that a recall brings at most.", "cofire", low=1, high=1_000))
BRIDGE_DECAY = declare(
    Knob("bridges.decay", 0.7, "What is left over each of the two links of a bridge.", "cofire", low=0, high=1)
)
NEWER_FIRST = declare(
    Knob(
        "recall.newer_first",
        True,
        "Whether the newest of several versions of one fact comes first. Facts that are only older keep their places.",
        "measured on the tuning half of benchmarks/sets/changes",
    )
)
COVERAGE = declare(
    Knob(
        "fusion.coverage",
        0.8,
        "What it counts that a fact is the first to hold words of the question; 0 is nothing.",
        "measured on the tuning halves",
        low=0,
        high=100,
    )
)
