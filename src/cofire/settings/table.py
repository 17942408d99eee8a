"""Every setting, declared once and by section, and `Settings`: their values in layers."""

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

# Where a default comes from: the documents of four memory systems, our own measurements, or both.
SLM = "SuperLocalMemory"
ENGRAM = "Engram"
ELFMEM = "elfmem"
MEMORIA = "Memoria"
OURS = "cofire"
MEASURED = "measured"
TUNED = "measured on the tuning halves"

# A setting is two or three lines: name, default and range first, then the help.
# fmt: off

# ---- General

PRESET = declare("preset", "default", source=ENGRAM, alias="memoryOsPreset", choices=tuple(PRESETS),
    help="A named set of settings. All other layers override it.")
EMBEDDER_NAME = declare("embedder.name", "bundled", source=OURS,
    help="The embedding model: bundled, none, openai:MODEL[@URL], ollama:MODEL[@URL], "
    "sentence-transformers:MODEL or fastembed:MODEL.")

# ---- Remember: how facts are written and read

REMEMBER_MAX_CHARACTERS = declare("remember.max_characters", 100_000, source=OURS,
    low=1, high=10_000_000,
    help="Maximum length of the text of one fact, in characters.")
REMEMBER_BATCH = declare("remember.batch", 256, source=OURS, low=1, high=10_000,
    help="Number of facts that are embedded and written together.")
READING_READER = declare("reading.reader", "rules", source=OURS, kept_in_store=True,
    help="The reader that extracts names, times and causes: rules, spacy, or llm:MODEL@URL.")
READING_TAGS = declare("reading.tags", False, source=OURS, kept_in_store=True,
    help="Use the key phrases of a text as its tags when no tags are given.")
SESSION_IDLE_MINUTES = declare("session.idle_minutes", 30.0, source=ELFMEM,
    low=0.01, high=1_440, kept_in_store=True,
    help="Pause, in minutes, after which a period of use ends.")

# ---- Recall: how much it returns

RECALL_K = declare("recall.k", 10, source=OURS, low=1, high=1_000,
    help="Maximum number of facts that a recall returns.")
RECALL_BUDGET = declare("recall.budget", 0, source=ENGRAM, low=0, high=1_000_000,
    help="Maximum number of tokens of all recalled texts together. 0 is no limit.")
RECALL_HEADROOM = declare("recall.headroom", 50, low=1, high=5_000,
    source="Engram; measured: with 20 a chat memory loses half a point, with 110 none wins one",
    help="Number of candidates beyond k that each channel proposes for ranking.")
RECALL_NEWER_FIRST = declare("recall.newer_first", True,
    source="measured on the tuning half of benchmarks/sets/changes",
    help="Rank the newest of several versions of one fact first. "
    "Facts that are only older keep their ranks.")

# ---- Channels: what proposes candidates

SEMANTIC_ENABLED = declare("semantic.enabled", True, source=SLM,
    help="Enable the semantic channel (search by vectors).")
SEMANTIC_WEIGHT = declare("semantic.weight", 0.17, source=TUNED, low=0, high=100,
    help="Weight of the semantic channel in fusion.")
SEMANTIC_METRIC = declare("semantic.metric", "cosine", source=SLM, choices=("cosine", "fisher_rao"),
    help="Similarity of two vectors: their cosine, or the geodesic distance on the unit sphere.")
SEMANTIC_CANDIDATES = declare("semantic.candidates", 1_000, low=1, high=100_000,
    source="measured: of 100,000 facts, .99 of the first ten are those of a full scan",
    help="Number of facts that the compressed vector index passes to exact scoring.")
SEMANTIC_INDEX = declare("semantic.index", "signs", source=MEASURED, needed_to_open=True,
    choices=("signs", "exact", "usearch"),
    help="The vector index: signs (compressed scan), exact (full scan) or usearch (graph index, "
    "an optional dependency, for very large stores).")
KEYWORD_ENABLED = declare("keyword.enabled", True, source=SLM,
    help="Enable the keyword channel (search by words).")
KEYWORD_WEIGHT = declare("keyword.weight", 2.0, source=TUNED, low=0, high=100,
    help="Weight of the keyword channel in fusion.")
KEYWORD_K1 = declare("keyword.k1", 0.8, source=TUNED, low=0, high=10,
    help="BM25 k1: saturation of term frequency. At lower values a repeated word adds less.")
KEYWORD_B = declare("keyword.b", 0.6, source=TUNED, low=0, high=1,
    help="BM25 b: length normalisation. At higher values long texts score lower.")
KEYWORD_HINT_WEIGHT = declare("keyword.hint_weight", 0.05, source=TUNED, low=0, high=1,
    help="Weight of a word in a fact's description. A word in its text has weight 1.")
ENTITY_ENABLED = declare("entity.enabled", True, source=SLM,
    help="Enable the entity channel: names in the question propose the facts about them.")
ENTITY_WEIGHT = declare("entity.weight", 0.635, source=TUNED, low=0, high=100,
    help="Weight of the entity channel in fusion.")
TEMPORAL_ENABLED = declare("temporal.enabled", True, source=SLM,
    help="Enable the temporal channel: times in the question propose facts of that time.")
TEMPORAL_WEIGHT = declare("temporal.weight", 0.9, source=TUNED, low=0, high=100,
    help="Weight of the temporal channel in fusion.")
CONTEXT_ENABLED = declare("context.enabled", True, source=TUNED,
    help="Score a turn of a session with the words and vectors of the turns around it as well.")

# ---- Fusion: how channels are combined

FUSION_METHOD = declare("fusion.method", "calibrated", source="SuperLocalMemory; measured",
    choices=("calibrated", "rrf", "hybrid"),
    help="How channels are combined: calibrated scores, weighted reciprocal ranks as documented, "
    "or the hybrid of the SYNAPSE paper.")
FUSION_RRF_K = declare("fusion.rrf_k", 60, source=SLM, low=1, high=1_000,
    help="The constant k of reciprocal rank fusion.")
FUSION_COVERAGE = declare("fusion.coverage", 0.8, source=TUNED, low=0, high=100,
    help="Weight of a fact that is the first in the ranking to contain words of the question. "
    "0 is off.")
PRIOR_PAGERANK = declare("prior.pagerank", 0.0, source=SLM, low=0, high=100,
    help="Weight in fusion of a fact's PageRank, as a share of the highest.")
PRIOR_COMMUNITY = declare("prior.community", 0.0, source=SLM, low=0, high=100,
    help="Weight in fusion of the share of the best facts that are in a fact's own community.")
PRIOR_SUCCESS = declare("prior.success", 0.0, source=OURS, low=0, high=100,
    help="Weight in fusion of how often feedback marked a fact as helpful rather than harmful.")
PRIOR_OCCASION = declare("prior.occasion", 0.6, source="cofire; measured", low=0, high=100,
    help="Weight in fusion of feedback on earlier recalls that returned similar facts.")

# ---- Spreading activation: how the graph adds facts

SPREADING_ACTIVATION_ENABLED = declare("spreading_activation.enabled", True, source=SLM,
    help="Use activation as a channel in fusion.")
SPREADING_ACTIVATION_ALPHA = declare("spreading_activation.alpha", 1.0, source=SLM, low=0, high=10,
    help="SYNAPSE: factor on the similarity of a seed.")
SPREADING_ACTIVATION_DELTA = declare("spreading_activation.delta", 0.5, source=SLM, low=0, high=1,
    help="SYNAPSE: share of its activation that a fact keeps from one round to the next.")
SPREADING_ACTIVATION_SPREADING_FACTOR = declare("spreading_activation.spreading_factor", 0.8,
    source=SLM, low=0, high=10,
    help="SYNAPSE: factor on the activation that a fact passes to its neighbours.")
SPREADING_ACTIVATION_THETA = declare("spreading_activation.theta", 0.5, source=SLM,
    low=-10, high=10,
    help="SYNAPSE: midpoint of the sigmoid.")
SPREADING_ACTIVATION_TOP_M = declare("spreading_activation.top_m", 7, source=SLM,
    low=1, high=10_000,
    help="SYNAPSE: number of facts that stay active after a round.")
SPREADING_ACTIVATION_MAX_ITERATIONS = declare("spreading_activation.max_iterations", 3, source=SLM,
    low=1, high=100,
    help="SYNAPSE: maximum number of rounds.")
SPREADING_ACTIVATION_TAU_GATE = declare("spreading_activation.tau_gate", 0.12, source=SLM,
    low=0, high=1,
    help="SYNAPSE: minimum activation of the strongest fact. Below it nothing is answered.")
SYNAPSE_SLOPE = declare("synapse.slope", 5.0, source="SYNAPSE paper", low=0.1, high=100,
    help="SYNAPSE, paper form: slope of the sigmoid.")
SYNAPSE_INHIBITION = declare("synapse.inhibition", 0.15, source="SYNAPSE paper", low=0, high=10,
    help="SYNAPSE, paper form: strength of lateral inhibition.")
ACTIVATION_DYNAMICS = declare("activation.dynamics", "cofire",
    source="SuperLocalMemory, Engram, Memoria; measured",
    choices=("cofire", "synapse.documented", "synapse.paper", "diffusion", "energy"),
    help="How activation spreads: cofire's walk over shared names and stored edges, SYNAPSE as "
    "documented or as in its paper, diffusion, or energy.")
ACTIVATION_WEIGHT = declare("activation.weight", 1.0, source=SLM, low=0, high=100,
    help="Weight in fusion of the activation channel under the documented dynamics.")
ACTIVATION_MOST_LINKS = declare("activation.most_links", 64, source=OURS, low=1, high=100_000,
    help="Maximum number of links followed from one fact, strongest first.")
GRAPH_RECALL_ENABLED = declare("graph_recall.enabled", True, source=ENGRAM,
    alias="graphRecallEnabled",
    help="Allow graph mode for questions that need several hops.")
GRAPH_RECALL_STEPS = declare("graph_recall.steps", 3, source=ENGRAM, low=1, high=100,
    alias="maxGraphTraversalSteps",
    help="Maximum number of hops of activation.")
GRAPH_RECALL_SEEDS = declare("graph_recall.seeds", 5, source="Engram; measured", low=1, high=100,
    alias="graphRecallMaxSeedNodes",
    help="Number of facts that activation starts from (documented: 10).")
GRAPH_RECALL_EXPANDED = declare("graph_recall.expanded", 40, source="Engram; measured",
    low=1, high=10_000, alias="graphRecallMaxExpandedNodes",
    help="Maximum number of facts that activation adds (documented: 30).")
GRAPH_RECALL_MIN_SEED_SCORE = declare("graph_recall.min_seed_score", 0.0, source="Engram; measured",
    low=0, high=1, alias="graphRecallMinSeedScore",
    help="Minimum score of a seed, as a share of the best seed's score (documented: 0.3).")
GRAPH_RECALL_CONFIDENCE_FLOOR = declare("graph_recall.confidence_floor", 0.2, source=ENGRAM,
    low=0, high=1, alias="graphTraversalConfidenceFloor",
    help="Minimum confidence of a link that activation follows.")
GRAPH_RECALL_EXPLAIN = declare("graph_recall.explain", True, source=ENGRAM,
    alias="graphRecallExplainEnabled",
    help="Record the paths and rounds of activation for the x-ray.")
GRAPH_RECALL_EXPLAIN_DOORS = declare("graph_recall.explain_doors", True, source=ENGRAM,
    alias="graphRecallExplainToolEnabled",
    help="Offer explanations (why, x-ray) on the command line, over HTTP and over MCP.")
GRAPH_ASSIST_ENABLED = declare("graph_assist.enabled", True, source=ENGRAM,
    alias="graphAssistInFullModeEnabled",
    help="In full mode, spread activation from the best results of the channels.")
GRAPH_ASSIST_MIN_SEED_RESULTS = declare("graph_assist.min_seed_results", 3, source=ENGRAM,
    low=0, high=1_000, alias="graphAssistMinSeedResults",
    help="In full mode, minimum number of results from the channels before activation spreads.")
DIFFUSION_DECAY = declare("diffusion.decay", 0.7, source=ENGRAM, low=0, high=1,
    help="Diffusion: share of activation that remains after a hop.")
DIFFUSION_ITERATIONS = declare("diffusion.iterations", 8, source=ENGRAM, low=0, high=1_000,
    alias="graphTraversalPageRankIterations",
    help="Diffusion: rounds of PageRank-like refinement afterwards. 0 is none.")
DIFFUSION_DAMPING = declare("diffusion.damping", 0.85, source=ENGRAM, low=0, high=0.999,
    help="Diffusion: damping factor of the refinement.")
ENERGY_MAX_DEPTH = declare("energy.max_depth", 5, source=MEMORIA, low=1, high=100,
    alias="MAX_DEPTH",
    help="Energy: maximum number of links in a path.")
ENERGY_MIN_ACTIVATION = declare("energy.min_activation", 0.005, source=MEMORIA, low=0, high=1,
    alias="MIN_ACTIVATION",
    help="Energy: a path continues only above this energy.")
ENERGY_TAG_FLOOR = declare("energy.tag_floor", 0.15, source=MEMORIA, low=0, high=1,
    alias="TAG_SIM_FLOOR",
    help="Energy: minimum tag similarity of a link, used for links without a tag of the question.")
ENERGY_BRANCHES = declare("energy.branches", 3, source=MEMORIA, low=1, high=1_000,
    alias="MAX_BRANCHES",
    help="Energy: number of neighbours to which each fact passes energy.")
ENERGY_SEEDS = declare("energy.seeds", 5, source=MEMORIA, low=1, high=100,
    help="Number of facts that explore starts from when it is given a question.")
STRATEGY_ENABLED = declare("strategy.enabled", False, source="SuperLocalMemory; measured",
    help="Let the kind of question, detected by rules, change the weight of activation. "
    "A strategy passed to recall always does.")
BRIDGES_ENABLED = declare("bridges.enabled", False, source="SuperLocalMemory; measured",
    help="Add facts that connect two results which no other fact connects.")
BRIDGES_MOST = declare("bridges.most", 3, source=OURS, low=1, high=1_000,
    help="Maximum number of bridges that a recall adds.")
BRIDGES_DECAY = declare("bridges.decay", 0.7, source=OURS, low=0, high=1,
    help="Share of the score that remains after each of the two links of a bridge.")

# ---- Abstention: when recall answers that it knows nothing

ABSTENTION_RULE = declare("abstention.rule", "evidence", source="SuperLocalMemory; measured",
    choices=("evidence", "gate", "off"),
    help="When recall abstains: too little evidence, the documented gate on activation, or never "
    "(off).")
ABSTENTION_THRESHOLD = declare("abstention.threshold", 0.0, source=MEASURED, low=0, high=2,
    help="Minimum evidence for an answer. 0 uses the calibrated threshold of the embedding model.")
ABSTENTION_WORDS = declare("abstention.words", 0.1, source=MEASURED, low=0, high=10,
    help="Evidence: weight of the share of the question's words that a fact contains, added to the "
    "cosine.")
ABSTENTION_RARITY = declare("abstention.rarity", 0.003, source=MEASURED, low=0, high=1,
    help="Evidence: weight of the summed rarity of the question's words that a fact contains.")
ABSTENTION_SIZE = declare("abstention.size", 0.018, source=MEASURED, low=0, high=1,
    help="Evidence: penalty per unit of the natural logarithm of the number of facts.")
ABSTENTION_UNKNOWN = declare("abstention.unknown", 0.012, source=MEASURED, low=0, high=1,
    help="Evidence: addition to abstention.size if no word of the question occurs in memory, in "
    "proportion to the share of such words. A known speaker or subject in the question subtracts it.")
ABSTENTION_LEXICAL_THRESHOLD = declare("abstention.lexical_threshold", 0.1, source=MEASURED,
    low=0, high=1,
    help="Minimum evidence by words alone, used without a calibrated embedding model.")

# ---- Links: the graph that remember and dream write

MULTI_GRAPH_ENABLED = declare("multi_graph.enabled", True, source=ENGRAM, kept_in_store=True,
    alias="multiGraphMemoryEnabled",
    help="Link facts in a graph. Off disables all kinds of links.")
MULTI_GRAPH_ENTITY = declare("multi_graph.entity", True, source=ENGRAM, kept_in_store=True,
    help="Link facts that share a name.")
MULTI_GRAPH_TIME = declare("multi_graph.time", True, source=ENGRAM, kept_in_store=True,
    help="Link the turns of a session.")
MULTI_GRAPH_CAUSAL = declare("multi_graph.causal", True, source=ENGRAM, kept_in_store=True,
    help="Link causes to effects.")
MULTI_GRAPH_SEMANTIC = declare("multi_graph.semantic", True, source=SLM, kept_in_store=True,
    help="Link each fact to its nearest neighbours by vector.")
MULTI_GRAPH_SIMILAR = declare("multi_graph.similar", True, source=ELFMEM, kept_in_store=True,
    help="Link facts with a high edge score.")
MULTI_GRAPH_REACH = declare("multi_graph.reach", 3, source=ENGRAM, low=0, high=20,
    kept_in_store=True,
    help="Number of previous turns of its session that a turn is linked to.")
MULTI_GRAPH_NEIGHBOURS = declare("multi_graph.neighbours", 3, source=SLM, low=0, high=50,
    kept_in_store=True,
    help="Number of nearest neighbours that a fact is linked to.")
MULTI_GRAPH_FLOOR = declare("multi_graph.floor", 0.35, source=MEASURED, low=-1, high=1,
    kept_in_store=True,
    help="Minimum centred cosine of a neighbour link.")
AUTO_LINK_ENABLED = declare("auto_link.enabled", True, source=SLM, kept_in_store=True,
    help="Link a new fact to similar facts when it is remembered.")
AUTO_LINK_THRESHOLD = declare("auto_link.threshold", 0.0, source="SuperLocalMemory; measured",
    low=0, high=1, kept_in_store=True,
    help="Minimum centred cosine for such a link. 0 uses the calibrated value of the embedding "
    "model (documented: 0.7).")
AUTO_LINK_MOST = declare("auto_link.most", 5, source=SLM, low=1, high=100, kept_in_store=True,
    help="Maximum number of such links per new fact.")
AUTO_LINK_BATCH = declare("auto_link.batch", 64, source=MEASURED, low=0, high=10_000,
    kept_in_store=True,
    help="Maximum number of facts in one call that are linked at once. Larger calls leave linking "
    "to the next dream.")
EVOLUTION_ENABLED = declare("evolution.enabled", True, source=SLM, kept_in_store=True,
    help="Update the description of an older fact when a new fact is linked to it.")
EDGE_SCORE_THRESHOLD = declare("edge_score_threshold", 0.40, source=ELFMEM, low=0, high=1,
    kept_in_store=True,
    help="Minimum edge score at which facts are linked as similar.")
EDGE_SCORE_MINIMUM_COSINE = declare("edge_score.minimum_cosine", 0.30, source=ELFMEM,
    low=0, high=1, kept_in_store=True,
    help="Minimum centred cosine. Below it the edge score is 0.")
EDGE_SCORE_COSINE = declare("edge_score.cosine", 0.55, source=ELFMEM, low=0, high=1,
    kept_in_store=True,
    help="Edge score: weight of the cosine.")
EDGE_SCORE_TAGS = declare("edge_score.tags", 0.20, source=ELFMEM, low=0, high=1,
    kept_in_store=True,
    help="Edge score: weight of shared tags.")
EDGE_SCORE_CATEGORY = declare("edge_score.category", 0.15, source=ELFMEM, low=0, high=1,
    kept_in_store=True,
    help="Edge score: weight of the category.")
EDGE_SCORE_TEMPORAL = declare("edge_score.temporal", 0.10, source=ELFMEM, low=0, high=1,
    kept_in_store=True,
    help="Edge score: weight of proximity in time.")
EDGE_SCORE_SIGMA_HOURS = declare("edge_score.sigma_hours", 8.0, source=ELFMEM,
    low=0.01, high=10_000, kept_in_store=True,
    help="Edge score: hours of use between two facts at which proximity in time is e^-½.")
EDGE_SCORE_CROSS_CATEGORY = declare("edge_score.cross_category", 0.30, source=ELFMEM,
    low=0, high=1, kept_in_store=True,
    help="Edge score: value of the category signal for two different categories.")
EDGE_DEGREE_CAP = declare("edge_degree_cap", 5, source=ELFMEM, low=1, high=1_000,
    kept_in_store=True,
    help="Maximum number of similarity edges of a fact.")

# ---- Dream: background work on the graph

DREAM_BATCH = declare("dream.batch", 100_000, source=OURS, low=1, high=1_000_000,
    help="Number of facts that a dream processes in one transaction.")
DREAM_NEIGHBOURS = declare("dream.neighbours", 12, source="elfmem; measured", low=1, high=200,
    kept_in_store=True,
    help="Number of nearest neighbours that a dream scores for each fact.")
DREAM_SHARING = declare("dream.sharing", 8, source=ELFMEM, low=0, high=200, kept_in_store=True,
    help="Number of facts with a rare tag in common that a dream scores for each fact in addition.")
DREAM_GROWTH = declare("dream.growth", 0.05, source=OURS, low=0, high=10, kept_in_store=True,
    help="Relative growth of the graph after which a dream computes PageRank and communities again.")
DREAM_BRIDGES = declare("dream.bridges", 10, source=SLM, low=0, high=1_000, kept_in_store=True,
    help="Maximum number of weak edges that a dream adds between communities.")
DREAM_AFTER_FACTS = declare("dream.after_facts", 0, source=OURS, low=0, high=10_000_000,
    help="Number of unprocessed facts at which an open memory starts a dream in the background. "
    "0 is never.")
DREAM_AFTER_MINUTES = declare("dream.after_minutes", 0.0, source=OURS, low=0, high=100_000,
    help="Age in minutes of unprocessed facts at which an open memory starts a dream in the "
    "background. 0 is never.")
PAGERANK_DAMPING = declare("pagerank.damping", 0.85, source=SLM, low=0, high=0.999,
    kept_in_store=True,
    help="Damping factor of PageRank.")

# ---- Learning: from recalls and feedback

RECALL_LOG_ENABLED = declare("recall_log.enabled", True, source=OURS,
    help="Log which facts each recall returned, so that feedback can refer to the recall.")
RECALL_LOG_MOST = declare("recall_log.most", 10_000, source=OURS, low=1, high=10_000_000,
    kept_in_store=True,
    help="Maximum number of recalls in the log. The oldest are deleted first.")
HEBBIAN_RULE = declare("hebbian.rule", "earned", source="SuperLocalMemory; measured",
    choices=("earned", "documented", "off"), kept_in_store=True,
    help="What is learned from recalls: earned (strengthen a pair returned together in three "
    "sessions), documented (every recall strengthens all its pairs), or off.")

# ---- Curate: decay, retention, review

DECAY_CLOCK = declare("decay.clock", "use", source="SuperLocalMemory; cofire",
    choices=("use", "calendar"), kept_in_store=True,
    help="Which days count for decay and retention: days on which the memory was used, or calendar "
    "days.")
DECAY_GRACE_DAYS = declare("decay.grace_days", 30, source=SLM, low=0, high=10_000,
    kept_in_store=True,
    help="Days without strengthening before the weight of an edge decays.")
DECAY_RATE = declare("decay.rate", 0.01, source=SLM, low=0, high=1, kept_in_store=True,
    help="Daily rate of that decay: weight · e^(-rate·days).")
DECAY_END_BELOW = declare("decay.end_below", 0.05, source=SLM, low=0, high=1, kept_in_store=True,
    help="Minimum weight. An edge that decays below it ends.")
DECAY_CONFIDENCE_GRACE_DAYS = declare("decay.confidence_grace_days", 90, source=ENGRAM,
    low=0, high=10_000, kept_in_store=True,
    help="Days without a new observation before the confidence of an edge decays.")
DECAY_CONFIDENCE_DAYS = declare("decay.confidence_days", 90, source=ENGRAM, low=1, high=10_000,
    kept_in_store=True,
    help="Days between two steps of that decay.")
DECAY_CONFIDENCE_STEP = declare("decay.confidence_step", 0.1, source=ENGRAM, low=0, high=1,
    kept_in_store=True,
    help="Amount by which a step lowers the confidence.")
DECAY_CONFIDENCE_FLOOR = declare("decay.confidence_floor", 0.1, source=ENGRAM, low=0, high=1,
    kept_in_store=True,
    help="Minimum confidence. Decay stops there.")
EDGE_PRUNE_THRESHOLD = declare("edge_prune_threshold", 0.10, source=ELFMEM, low=0, high=1,
    kept_in_store=True,
    help="Minimum weight of similarity edges. Curate deletes those below it.")
RETENTION_DAYS = declare("retention.days", 0, source=OURS, low=0, high=100_000, kept_in_store=True,
    help="Days after which a fact that was neither repeated nor recalled is archived. 0 is never.")
RETENTION_KEEP = declare("retention.keep", "", source=OURS, kept_in_store=True,
    help="Categories that retention never archives, separated by commas: decision,preference.")
BUDGET_FACTS = declare("budget.facts", 0, source=OURS, low=0, high=1_000_000_000,
    kept_in_store=True,
    help="Maximum number of facts that recall can return. Curate archives the least valuable beyond "
    "it. 0 is no limit.")
BUDGET_BYTES = declare("budget.bytes", 0, source=OURS, low=0, high=1_000_000_000_000,
    kept_in_store=True,
    help="Maximum size in bytes of their texts and vectors. Curate archives the least valuable "
    "beyond it. 0 is no limit.")
REVIEW_ENABLED = declare("review.enabled", True, source=OURS, kept_in_store=True,
    help="Let curate propose pairs of facts that seem to contradict each other for review.")
REVIEW_APPLY_CLEAR = declare("review.apply_clear", False, source=OURS, kept_in_store=True,
    help="Let curate mark the older fact as superseded when the evidence is clear. unsupersede "
    "reverts it.")
CURATE_EVERY_HOURS = declare("curate.every_hours", 0.0, source=OURS, low=0, high=100_000,
    help="Hours between two runs of curate in the background of an open memory. 0 is never.")

# ---- Forget

FORGET_UNDO_DAYS = declare("forget.undo_days", 30, source=OURS, low=0, high=10_000,
    help="Days for which a forget can be undone by its receipt. 0 writes no receipts.")

# ---- Shadow recalls and snapshots: comparing configurations

SHADOW_ENABLED = declare("shadow.enabled", False, source=ENGRAM, alias="graphRecallShadowEnabled",
    help="Run each recall a second time under another configuration and compare the results. The "
    "answer does not change.")
SHADOW_PRESET = declare("shadow.preset", "research-max", source=OURS, choices=tuple(PRESETS),
    help="Preset of the second configuration.")
SHADOW_SETTINGS = declare("shadow.settings", "", source=OURS,
    help="Settings of the second configuration that override its preset: NAME=VALUE, separated by "
    "commas, or a JSON object.")
SHADOW_ASSIST = declare("shadow.assist", False, source=ENGRAM, alias="graphAssistShadowEvalEnabled",
    help="Run each recall a second time with graph_assist.enabled inverted and compare the results.")
SNAPSHOTS_ENABLED = declare("snapshots.enabled", False, source=ENGRAM,
    alias="graphRecallSnapshotEnabled",
    help="Write a snapshot of each recall: the question, the ids returned, and the channel or path "
    "of each.")
SNAPSHOTS_MOST = declare("snapshots.most", 200, source=OURS, low=1, high=100_000,
    help="Maximum number of snapshots, and of comparisons. The oldest are deleted first.")
SNAPSHOTS_FOLDER = declare("snapshots.folder", "", source=OURS,
    help="Folder of snapshots and comparisons. Empty is a folder beside the store, named after it "
    "with .snapshots.")

# ---- Store

STATISTICS_GROWTH = declare("statistics.growth", 0.1, source=OURS, low=0, high=10,
    kept_in_store=True,
    help="Relative growth or shrinkage of a scope after which its word statistics are recomputed.")
STATISTICS_SAMPLE = declare("statistics.sample", 256, source=OURS, low=0, high=10_000,
    kept_in_store=True,
    help="Number of vectors per scope in the sample that estimates similarity by chance.")
STORE_BUSY_SECONDS = declare("store.busy_seconds", 30.0, source=OURS, low=0, high=3_600,
    needed_to_open=True,
    help="Maximum time to wait for another process that writes.")
STORE_ANSWER_SECONDS = declare("store.answer_seconds", 30.0, source=OURS, low=0.1, high=3_600,
    needed_to_open=True,
    help="Timeout of a server for one transaction, and for a connection.")
STORE_SYNCHRONOUS = declare("store.synchronous", "full", source="SQLite",
    choices=("full", "normal"), needed_to_open=True,
    help="Durability of a commit: full waits for the disk, normal may lose the last commits at a "
    "power cut.")
# fmt: on

SETTINGS_RECORD = "settings"
SETTING_LAYERS = ("default", "preset", "file", "store", "environment", "call")
SETTING_ALIASES = MappingProxyType({knob.alias: knob.name for knob in KNOBS.values() if knob.alias})


def find_knob(name: str) -> Knob[Any]:
    """The setting of this name or alias. The error for an unknown name suggests a similar one."""
    if not isinstance(name, str):
        raise UnknownSetting(
            f"There is no setting {name!r}.",
            way_out="Give its name; see all with: cofire config list",
        )
    knob = KNOBS.get(SETTING_ALIASES.get(name, name))
    if knob is not None:
        return knob
    candidates = [full_name for full_name in KNOBS if full_name.endswith(f".{name}")]
    if len(candidates) != 1:
        candidates = get_close_matches(name, [*KNOBS, *SETTING_ALIASES], n=1, cutoff=0.5)
    hint = f"Did you mean {candidates[0]}? " if candidates else ""
    raise UnknownSetting(f"There is no setting {name!r}.", way_out=f"{hint}See all with: cofire config list")


def check_settings_mapping(values: object) -> dict[str, object]:
    """A copy of a mapping from setting names to values. Anything else is refused."""
    if not isinstance(values, Mapping) or not all(isinstance(name, str) for name in values):
        raise InvalidSetting(f"Settings cannot be {values!r}.", way_out='Give them by name, as in {"recall.k": 5}.')
    return dict(values)


@dataclass(frozen=True)
class Settings:
    """The values of all settings and the layer of each. `settings[KNOB]` has the knob's type.

    >>> settings = Settings.layered(call={"keyword.k1": 1.2})
    >>> settings[KEYWORD_K1], settings.layer_of(KEYWORD_K1), settings.layer_of(KEYWORD_B)
    (1.2, 'call', 'default')
    """

    values: Mapping[str, Any] = field(default_factory=dict)
    origins: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def layered(cls, **layers: Mapping[str, object]) -> Settings:
        """Apply the named layers over the defaults, in the order of `SETTING_LAYERS`."""
        parsed: dict[str, dict[str, Any]] = {}
        for layer in SETTING_LAYERS:
            parsed[layer] = _parse_values(layers.get(layer, {}))
        preset = PRESET.default
        for layer in SETTING_LAYERS:
            preset = parsed[layer].get(PRESET.name, preset)
        parsed["preset"] = {**_parse_values(PRESETS[preset].settings), **parsed["preset"]}

        values: dict[str, Any] = {}
        origins: dict[str, str] = {}
        for layer in SETTING_LAYERS:
            values.update(parsed[layer])
            origins.update(dict.fromkeys(parsed[layer], layer))
        return cls(values, origins)

    def __getitem__(self, knob: Knob[T]) -> T:
        value: T = self.values.get(knob.name, knob.default)
        return value

    def layer_of(self, knob: Knob[Any]) -> str:
        return self.origins.get(knob.name, "default")

    def over(self, changes: Mapping[str, object]) -> Settings:
        """These settings with `changes` in the layer of the call."""
        if not changes:
            return self
        layers: dict[str, dict[str, object]] = {layer: {} for layer in SETTING_LAYERS}
        for name, layer in self.origins.items():
            layers[layer][name] = self.values[name]
        del layers["preset"]  # The changes may choose another preset.
        layers["call"].update(changes)
        return Settings.layered(**layers)

    def __iter__(self) -> Iterator[tuple[Knob[Any], Any]]:
        return ((knob, self[knob]) for knob in KNOBS.values())


def _parse_values(values: Mapping[str, object]) -> dict[str, Any]:
    parsed: dict[str, Any] = {}
    for name, value in values.items():
        knob = find_knob(name)
        parsed[knob.name] = knob.read(value)
    return parsed


def decode_settings_record(value: bytes | None) -> dict[str, object]:
    """The settings kept in the store."""
    return dict(json.loads(value)) if value else {}


def encode_settings_record(values: Mapping[str, object]) -> bytes:
    return json.dumps(dict(sorted(values.items()))).encode("utf-8")
