//! The keys of stages, of each kind, and of what is inside them.

use super::*;

pub(crate) static EDGE: Table = Table {
    name: "an edge",
    parts: &[&[
        required(
            "to",
            Shape::Target,
            "A stage, `@interrupted`, or a parameter in braces.",
        ),
        optional("count", COUNTER_NAME, "The counter that counts this edge."),
        optional(
            "reset",
            Shape::List(&Shape::NameOf(Declared::CounterOrStage)),
            "Counters to reset, or review stages whose rounds to reset.",
        ),
        optional(
            "approves",
            ARTIFACT_NAMES,
            "Artifacts whose current content a person approves with this answer.",
        ),
        optional(
            "text",
            Shape::Word(WORDS_RULES),
            "Whether the person must say something with this choice.",
        ),
    ]],
    choice: &[],
};

pub(crate) static TOOLS: Table = Table {
    name: "`tools`",
    parts: &[&[optional(
        "deny",
        AGENTS,
        "Tools, or globs over tools, that may not be used here.",
    )]],
    choice: &[],
};

pub(crate) static RETRY: Table = Table {
    name: "a retry",
    parts: &[&[
        required("max", Shape::Amount, "How often."),
        optional(
            "backoff",
            Shape::Duration,
            "How long to wait before the first retry; each later one waits longer.",
        ),
    ]],
    choice: &[],
};

pub(crate) const STEPS_OR: &[&str] = &["start"];

pub(crate) static STEPS_FROM: Table = Table {
    name: "a reference to steps",
    parts: &[&[
        required(
            "from",
            Shape::FieldOf,
            "The list of steps in an artifact, such as `plan.steps`.",
        ),
        optional(
            "or",
            Shape::Word(STEPS_OR),
            "`start`: the steps may also be given when a run starts, which then starts at this stage.",
        ),
    ]],
    choice: &[],
};

pub(crate) static FROM: Table = Table {
    name: "a reference to fields",
    parts: &[&[required(
        "from",
        Shape::Either(&[Shape::FieldOf, Shape::FilledList(&Shape::FieldOf)]),
        "A field of an artifact, such as `story.test_criteria.commands`, or several.",
    )]],
    choice: &[],
};

pub(crate) static REVIEWER: Table = Table {
    name: "a reviewer",
    parts: &[
        &[
            required("agent", Shape::Agent, "The reviewer."),
            required("leaves", ARTIFACT_NAME, "The artifact with its verdict."),
            optional("final", Shape::Flag, "Do its findings restart the round?"),
        ],
        WORKER,
    ],
    choice: &[],
};

pub(crate) static STEP: Table = Table {
    name: "a step",
    parts: &[&[
        required("id", Shape::StepId, "The step's id."),
        optional("title", Shape::Text, "What to do."),
        required("agent", Shape::Agent, "The agent."),
        optional(
            "needs",
            Shape::List(&Shape::StepId),
            "Steps that must be done before.",
        ),
    ]],
    choice: &[],
};

const COMMON: &[Key] = &[
    optional("about", Shape::Text, "What happens here."),
    optional(
        "shown",
        Shape::Filled,
        "The stage's name in views that know fewer stages.",
    ),
    optional(
        "inject",
        Shape::Filled,
        "Text given with a person's prompt, or at session start, while the run is here.",
    ),
    optional(
        "stop",
        Shape::Word(STOPS),
        "`free` (default), or `hold`: the session does not stop before the stage's work is done.",
    ),
    optional(
        "writes",
        TEXTS,
        "Globs over the files that this stage may change; an empty list: none.",
    ),
    optional(
        "tools",
        Shape::Table(&TOOLS),
        "Tools that may not be used here.",
    ),
    optional("retry", RETRIES, "How often a fault is retried."),
    optional("timeout", Shape::Duration, "How long the work may take."),
    optional(
        "heartbeat",
        Shape::Duration,
        "How long a worker may be silent.",
    ),
    optional("on", named(&EDGES), "Where each outcome leads."),
];

const WORKER: &[Key] = &[
    optional(
        "runner",
        Shape::Name,
        "The program that runs the agent, such as `claude` or `codex`.",
    ),
    optional(
        "model",
        Shape::Either(&[Shape::Filled, Shape::FilledList(&Shape::Filled)]),
        "The model, or a list: each further one works while those before it are limited or down.",
    ),
    optional(
        "fallback",
        Shape::FilledList(&Shape::Table(&FALLBACK)),
        "Other programs or models, in their order, for the time in which the worker's own are limited or down.",
    ),
    optional(
        "prompt",
        Shape::Reference,
        "A file with the prompt, next to the definition.",
    ),
    optional(
        "conversation",
        Shape::Word(CONVERSATIONS),
        "`fresh` (default), or `same`: the earlier one continues.",
    ),
];

pub(crate) const FALLBACK: Table = Table {
    name: "a fallback",
    parts: &[&[
        optional(
            "runner",
            Shape::Name,
            "The program; by default the one of the worker.",
        ),
        optional(
            "model",
            Shape::Filled,
            "The model; by default the program chooses.",
        ),
    ]],
    choice: &[],
};

const READS: Key = optional(
    "reads",
    Shape::List(&Shape::Read),
    "Artifacts that the worker gets; a question mark after the name makes one optional.",
);
const AFTER: Key = optional(
    "after",
    Shape::Map {
        keys: &Shape::AgentPattern,
        values: &EDGES,
    },
    "Where the run goes when this agent has ended well.",
);
const LEAVES_BY_AGENT: Key = optional(
    "leaves",
    Shape::Map {
        keys: &Shape::AgentPattern,
        values: &ARTIFACT_NAMES,
    },
    "What each agent must produce.",
);

pub(crate) static AGENT_STAGE: Table = Table {
    name: "an agent stage",
    parts: &[
        &[
            required(
                "agent",
                Shape::Agent,
                "The agent that works here; `session` is the main session itself.",
            ),
            READS,
            optional(
                "leaves",
                Shape::Either(&[ARTIFACT_NAMES, named(&ARTIFACT_NAMES)]),
                "Artifacts that must be produced: a list, or a list for each outcome.",
            ),
        ],
        WORKER,
        COMMON,
    ],
    choice: &[],
};

pub(crate) static OPEN_STAGE: Table = Table {
    name: "an open stage",
    parts: &[
        &[
            required(
                "allow",
                AGENTS,
                "Agents, globs or groups that the session may call here.",
            ),
            AFTER,
            LEAVES_BY_AGENT,
        ],
        COMMON,
    ],
    choice: &[],
};

pub(crate) static CHECK_STAGE: Table = Table {
    name: "a check stage",
    parts: &[
        &[
            required(
                "check",
                Shape::Either(&[
                    Shape::List(&Shape::Either(&[Shape::Filled, Shape::List(&Shape::Text)])),
                    Shape::Table(&FROM),
                ]),
                "Command lines, or fields of artifacts that a person approved.",
            ),
            optional(
                "fails_on",
                Shape::Either(&[Shape::Filled, Shape::Table(&FROM)]),
                "Text in the output that fails a command, or fields of artifacts with such texts.",
            ),
            optional(
                "expects",
                Shape::Either(&[Shape::Filled, Shape::Table(&FROM)]),
                "Text that at least one command must print, or fields of artifacts with such texts. Its absence fails the check; its presence passes none.",
            ),
            optional(
                "home",
                Shape::Word(HOMES),
                "The HOME that the commands see: the person's own, or an empty private one.",
            ),
        ],
        COMMON,
    ],
    choice: &[],
};

pub(crate) static ASK_STAGE: Table = Table {
    name: "an ask stage",
    parts: &[
        &[
            required(
                "ask",
                Shape::Filled,
                "The question. The choices are the outcomes of `on`.",
            ),
            optional(
                "from",
                Shape::FieldOf,
                "A worker's own questions, such as `signal.questions`.",
            ),
            optional(
                "leaves",
                ARTIFACT_NAME,
                "The artifact for the answers to a worker's questions, or for what a person says with a choice.",
            ),
            optional(
                "text",
                Shape::Word(WORDS_RULES),
                "Whether the person must say something with every choice.",
            ),
        ],
        COMMON,
    ],
    choice: &[],
};

pub(crate) static REVIEW_STAGE: Table = Table {
    name: "a review stage",
    parts: &[
        &[
            required(
                "review",
                Shape::Agent,
                "The agent whose work is reviewed, and which fixes the findings.",
            ),
            required(
                "panel",
                Shape::FilledList(&Shape::Table(&REVIEWER)),
                "The reviewers, in their order.",
            ),
            required("rounds", Shape::Amount, "How many rounds there may be."),
            optional(
                "of",
                ARTIFACT_NAME,
                "The artifact that the panel reviews; by default the tree.",
            ),
            READS,
            optional(
                "fixes",
                ARTIFACT_NAMES,
                "What the owner produces after a fix.",
            ),
        ],
        WORKER,
        COMMON,
    ],
    choice: &[],
};

pub(crate) static STEPS_STAGE: Table = Table {
    name: "a steps stage",
    parts: &[
        &[
            required(
                "steps",
                Shape::Either(&[
                    Shape::List(&Shape::Table(&STEP)),
                    Shape::Word(STEPS_OR),
                    Shape::Table(&STEPS_FROM),
                ]),
                "The task graph: its steps, `start` (given when the run starts), or a field of an artifact.",
            ),
            optional("max_parallel", Shape::Amount, "How many steps run at once."),
            optional("agents", AGENTS, "Agents that a step may name."),
            READS,
            optional("leaves", ARTIFACT_NAMES, "What each step must produce."),
        ],
        WORKER,
        COMMON,
    ],
    choice: &[],
};

pub(crate) static ROUTE_RULE: Table = Table {
    name: "a rule of a route",
    parts: &[&[
        required("outcome", Shape::Name, "The outcome if this rule holds."),
        optional(
            "files",
            Shape::Whole,
            "At most so many files have changed since the run began.",
        ),
        optional(
            "lines",
            Shape::Whole,
            "At most so many lines were added and removed.",
        ),
        optional(
            "within",
            TEXTS,
            "Globs: every file that changed is covered by one of them.",
        ),
        optional(
            "avoids",
            TEXTS,
            "Globs: no file that changed is covered by one of them.",
        ),
        optional(
            "params",
            Shape::Map {
                keys: &Shape::NameOf(Declared::Param),
                values: &Shape::Scalar,
            },
            "The values that parameters of the run have.",
        ),
        optional(
            "verdicts",
            Shape::Map {
                keys: &STAGE,
                values: &Shape::Name,
            },
            "The outcome with which each of these stages was last left; an agent's needs evidence beside it.",
        ),
    ]],
    choice: &[],
};

pub(crate) static ROUTE_STAGE: Table = Table {
    name: "a route",
    parts: &[
        &[required(
            "route",
            Shape::List(&Shape::Table(&ROUTE_RULE)),
            "Rules, tried in their order. The first that holds gives the outcome; else it is `otherwise`.",
        )],
        COMMON,
    ],
    choice: &[],
};

pub(crate) static END_STAGE: Table = Table {
    name: "an end",
    parts: &[
        &[
            required("end", Shape::Word(ENDS), "How the run ended."),
            AFTER,
            LEAVES_BY_AGENT,
        ],
        COMMON,
    ],
    choice: &[],
};
