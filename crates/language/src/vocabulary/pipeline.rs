//! The keys at the top of a file, of parameters, counters, artifacts and proofs.

use super::*;

pub(crate) static PIPELINE: Table = Table {
    name: "the pipeline",
    parts: &[&[
        required("name", Shape::Name, "The pipeline's name."),
        own_or_extended(
            "about",
            Shape::Filled,
            "What the pipeline is for, in one sentence.",
        ),
        optional(
            "extends",
            Shape::Filled,
            "A built-in pipeline, or a file next to this one. All that it says holds here too, unless this file says otherwise.",
        ),
        optional(
            "without",
            Shape::List(&Shape::Field),
            "What this pipeline does not take over from the one that it extends, such as `commands.multi-ai`.",
        ),
        optional(
            "use",
            named(&Shape::Either(&[Shape::Filled, Shape::Table(&USE)])),
            "Stages of other pipelines, with what belongs to them. Each name gets the key as its prefix: `qa-review`.",
        ),
        optional(
            "begins",
            Shape::Word(BEGINS),
            "`command` (default): a person or a command starts a run. `session`: every session in the project has a run.",
        ),
        own_or_extended("start", STAGE, "The stage in which a run starts."),
        optional(
            "mode",
            Shape::Word(MODES),
            "`enforced` (default), or `advisory`: refusals are shown and recorded, but nothing is blocked.",
        ),
        optional(
            "ttl",
            Shape::Duration,
            "After this time without an event a run is stale and asks before it continues.",
        ),
        optional(
            "settings",
            Shape::Filled,
            "The project's settings file, which may supply values of parameters and more members of groups.",
        ),
        optional("budget", Shape::Table(&BUDGET), "What a whole run may use."),
        optional(
            "params",
            named(&Shape::Either(&[Shape::Filled, Shape::Table(&PARAM)])),
            "Values that a run gets when it starts. A plain text describes the parameter.",
        ),
        optional(
            "counters",
            named(&Shape::Table(&COUNTER)),
            "Limits on how often an edge is taken.",
        ),
        optional(
            "groups",
            named(&Shape::Either(&[AGENTS, Shape::Table(&GROUP)])),
            "Named sets of agents.",
        ),
        optional(
            "artifacts",
            named(&Shape::Table(&ARTIFACT)),
            "What agents produce.",
        ),
        own_or_extended("stages", named(&Shape::Stage), "The stages of a run."),
        optional(
            "views",
            Shape::Table(&VIEWS),
            "Files rendered after every change: format to path.",
        ),
        optional(
            "commands",
            Shape::Map {
                keys: &Shape::Agent,
                values: &Shape::Act,
            },
            "Slash commands that a person types in a session, without the slash, and what each does: `start`, `answer`, `answer CHOICE`, `finish`, `retry`, `cancel` or `reset`.",
        ),
        optional(
            "helpers",
            AGENTS,
            "Read-only agents of the host that may help in any stage: `[\"Explore\", \"Plan\"]` by default, `[]` for none.",
        ),
        optional(
            "gives",
            Shape::List(&Shape::Given),
            "Files next to the definition that the host gets: below `agents/`, `commands/` and `skills/`.",
        ),
        optional(
            "ignores",
            Shape::List(&Shape::Ignored),
            "Lines for the project's `.gitignore`: files of agents that nobody commits.",
        ),
        optional(
            "litter",
            Shape::List(&Shape::Litter),
            "Untracked files that tools leave behind, as `reports/**`: they are not part of the tree that gates check. A usual list applies anyway.",
        ),
        optional(
            "place",
            Shape::Word(PLACES),
            "Where runs work: `tree`, your own, or `branch`, a worktree and branch of the run. By default queued runs and several tasks have a branch, and one `run` has your tree.",
        ),
        optional(
            "carry",
            Shape::List(&Shape::Litter),
            "Untracked files that come along into a worktree, as `node_modules` or `.env`: patterns as in `.gitignore`.",
        ),
        optional(
            "carry_back",
            Shape::List(&Shape::Filled),
            "Ignored files that come back from the worktree of a parallel step, as paths.",
        ),
        optional(
            "deliver",
            Shape::Either(&[Shape::Word(DELIVERS), Shape::Table(&DELIVERY)]),
            "What a completed run on its branch hands over: a commit (`branch`), also a pull request (`pull-request`), or `none`.",
        ),
        optional(
            "protocol",
            Shape::Reference,
            "A file next to the definition: instructions for every session of the project, as a part of the host's memory file.",
        ),
        optional(
            "prove",
            Shape::List(&Shape::Table(&PROOF)),
            "Promises that `lint` proves.",
        ),
    ]],
    choice: &[],
};

pub(crate) static USE: Table = Table {
    name: "a used pipeline",
    parts: &[&[
        required(
            "from",
            Shape::Filled,
            "A built-in pipeline, or a file next to this one.",
        ),
        optional(
            "stages",
            Shape::FilledList(&Shape::Name),
            "The stages to bring; by default all but those in `with`.",
        ),
        optional(
            "with",
            Shape::Map {
                keys: &Shape::Name,
                values: &Shape::Name,
            },
            "Stages and artifacts of the used pipeline, and those of this one that take their place.",
        ),
    ]],
    choice: &[],
};

pub(crate) static DELIVERY: Table = Table {
    name: "a delivery",
    parts: &[&[
        required(
            "as",
            Shape::Word(DELIVERS),
            "`branch`: a commit on the run's branch. `pull-request`: also pushed, with a request to merge. `none`.",
        ),
        optional(
            "remote",
            Shape::Filled,
            "The remote that the branch is pushed to. A pull request goes to `origin` by default.",
        ),
        optional(
            "request",
            Shape::Either(&[Shape::Filled, Shape::FilledList(&Shape::Filled)]),
            "What makes the request: `gh`, `glab`, or the words of your own command with {branch}, {base}, {title}, {body} (a file with the report) and {text} (the report).",
        ),
    ]],
    choice: &[],
};

pub(crate) static BUDGET: Table = Table {
    name: "a budget",
    parts: &[&[
        optional("turns", Shape::Amount, "Turns of all agents together."),
        optional("tokens", Shape::Amount, "Tokens of all agents together."),
        optional("cost", Shape::Cost, "Dollars, such as \"5.00\" or 5."),
        optional(
            "time",
            Shape::Duration,
            "Time from the start, such as \"2h\".",
        ),
    ]],
    choice: &[],
};

pub(crate) static PARAM: Table = Table {
    name: "a parameter",
    parts: &[&[
        optional("about", Shape::Text, "What the parameter is."),
        optional(
            "required",
            Shape::Flag,
            "Must a run get a value? True unless there is a default.",
        ),
        optional("default", Shape::Scalar, "The value when none is given."),
        optional(
            "choices",
            Shape::List(&Shape::Scalar),
            "The only values that are allowed.",
        ),
        optional(
            "words",
            Shape::Map {
                keys: &Shape::Text,
                values: &Shape::Scalar,
            },
            "Other words for its values, for a settings file.",
        ),
        optional(
            "setting",
            Shape::Either(&[Shape::Field, Shape::FilledList(&Shape::Field)]),
            "The dotted field of the settings file that supplies it. Of several, the first that exists counts.",
        ),
        optional(
            "is",
            Shape::Word(MEANINGS),
            "What the value is: `text` (default), or `path`, a file or folder that stays inside the project.",
        ),
    ]],
    choice: &[],
};

pub(crate) static GROUP: Table = Table {
    name: "a group",
    parts: &[&[
        required("always", AGENTS, "The agents that are always in it."),
        required(
            "setting",
            Shape::Field,
            "The dotted field of the settings file that lists more of them.",
        ),
    ]],
    choice: &[],
};

pub(crate) static COUNTER: Table = Table {
    name: "a counter",
    parts: &[&[
        required("max", Shape::Amount, "How often it may be counted."),
        required(
            "then",
            STAGE,
            "The stage that follows when the counter is full.",
        ),
    ]],
    choice: &[],
};

pub(crate) static ARTIFACT: Table = Table {
    name: "an artifact",
    parts: &[&[
        optional(
            "path",
            Shape::Filled,
            "The file in the project. It may contain {run}, {step} and parameters.",
        ),
        optional(
            "from",
            Shape::Word(SOURCES),
            "`reply`: the agent's last message. `answers`: a person's answers to an `ask` stage.",
        ),
        optional(
            "format",
            Shape::Word(FORMATS),
            "`bundle` is Markdown with YAML front matter. A reply and answers are `json` by default.",
        ),
        optional(
            "schema",
            Shape::Either(&[Shape::Reference, Shape::Schema]),
            "A JSON Schema: a file next to the definition, or the schema itself. Only with `json`.",
        ),
        optional("require", TEXTS, "Fields that must exist and not be empty."),
        optional(
            "equals",
            Shape::Map {
                keys: &Shape::Field,
                values: &Shape::Scalar,
            },
            "Values that fields must have. A value may contain {agent}, {stage}, {run}, {step} and parameters; a star at its end matches anything.",
        ),
        optional(
            "outcome",
            Shape::Table(&OUTCOME),
            "The field that holds the verdict.",
        ),
        optional(
            "approved",
            Shape::Table(&APPROVED),
            "Commands that it may add. A person approves each one before the run continues.",
        ),
        optional(
            "strict",
            Shape::Choice,
            "True (default): a missing or invalid artifact is a fault. False: it is a warning. A parameter in braces is `strict` or `advisory`.",
        ),
        optional(
            "max_bytes",
            Shape::Bytes,
            "The largest size in bytes; 262144 by default.",
        ),
    ]],
    choice: &[&["path"], &["from"]],
};

pub(crate) static OUTCOME: Table = Table {
    name: "an outcome",
    parts: &[&[
        required("field", Shape::Field, "The field that holds the verdict."),
        required(
            "values",
            Shape::Either(&[
                Shape::FilledList(&Shape::Name),
                Shape::Map {
                    keys: &Shape::Text,
                    values: &Shape::Name,
                },
            ]),
            "The values of the field and the outcomes that they mean. A list: each value is its own outcome.",
        ),
        optional(
            "reason",
            Shape::Field,
            "The field in which the worker says why it failed. The history and the next attempt have it.",
        ),
    ]],
    choice: &[],
};

pub(crate) static APPROVED: Table = Table {
    name: "the commands of an artifact",
    parts: &[&[
        required(
            "field",
            Shape::Field,
            "The field with the list of commands.",
        ),
        required(
            "then",
            STAGE,
            "The question that follows if nobody has approved the commands.",
        ),
    ]],
    choice: &[],
};

pub(crate) static PROOF: Table = Table {
    name: "a proof",
    parts: &[&[
        required("name", Shape::Filled, "The promise in words."),
        optional(
            "before",
            STAGE,
            "The stage that is never reached unless the others are passed before.",
        ),
        optional(
            "through",
            Shape::Either(&[STAGE, Shape::FilledList(&STAGE)]),
            "The stages that every path passes.",
        ),
        optional(
            "after",
            STAGE,
            "The stage after which this must hold again.",
        ),
        optional(
            "agent",
            Shape::AgentPattern,
            "The agent, glob or group that is admitted late.",
        ),
        optional(
            "only_after",
            Shape::Agent,
            "The agent that must have ended well before.",
        ),
    ]],
    choice: &[&["before", "through"], &["agent", "only_after"]],
};
