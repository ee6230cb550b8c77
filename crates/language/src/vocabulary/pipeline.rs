//! The keys at the top of a file, of parameters, counters, artifacts and proofs.

use super::*;

pub(crate) static PIPELINE: Table = Table {
    name: "the pipeline",
    parts: &[&[
        required("name", Shape::Name, "The pipeline's name."),
        required(
            "about",
            Shape::Filled,
            "What the pipeline is for, in one sentence.",
        ),
        optional(
            "begins",
            Shape::Word(BEGINS),
            "`command` (default): a person or a command starts a run. `session`: every session in the project has one.",
        ),
        required("start", Shape::Name, "The stage in which a run begins."),
        optional(
            "mode",
            Shape::Word(MODES),
            "`enforced` (default), or `advisory`: refusals are said and recorded, and the step is let through.",
        ),
        optional(
            "ttl",
            Shape::Duration,
            "After this time without an event a run is stale and asks before it goes on.",
        ),
        optional(
            "settings",
            Shape::Filled,
            "The project's settings file, from which parameters may take their values, and groups more members.",
        ),
        optional("budget", Shape::Table(&BUDGET), "What a whole run may use."),
        optional(
            "params",
            named(&Shape::Either(&[Shape::Filled, Shape::Table(&PARAM)])),
            "What is given to a run when it starts. A text alone says what the parameter is.",
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
            "What agents leave behind.",
        ),
        required(
            "stages",
            named(&Shape::Stage),
            "The places that a run goes through.",
        ),
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
            "gives",
            Shape::List(&Shape::Given),
            "Files beside the definition that the host is given: below `agents/`, `commands/` and `skills/`.",
        ),
        optional(
            "ignores",
            Shape::List(&Shape::Ignored),
            "Lines for the project's `.gitignore`: what agents leave there and nobody commits.",
        ),
        optional(
            "protocol",
            Shape::Reference,
            "A file beside the definition: what every session of the project is told, as a part of the host's memory file.",
        ),
        optional(
            "prove",
            Shape::List(&Shape::Table(&PROOF)),
            "Promises that `lint` proves.",
        ),
    ]],
    choice: &[],
};

pub(crate) static BUDGET: Table = Table {
    name: "a budget",
    parts: &[&[
        optional("turns", Shape::Amount, "Turns of all agents together."),
        optional("tokens", Shape::Amount, "Tokens of all agents together."),
        optional("cost", Shape::Cost, "Dollars, as \"5.00\" or 5."),
        optional("time", Shape::Duration, "Time from the start, as \"2h\"."),
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
            "Must a run be given a value? True unless there is a default.",
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
            "Other words for its values, as a settings file may have them.",
        ),
        optional(
            "setting",
            Shape::Either(&[Shape::Field, Shape::FilledList(&Shape::Field)]),
            "The dotted field of the settings file that supplies it. Of several the first that is there counts.",
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
            Shape::Name,
            "The stage to which the next count leads instead.",
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
            "The file in the project. It may hold {run}, {step} and parameters.",
        ),
        optional(
            "from",
            Shape::Word(SOURCES),
            "`reply`: the agent's last message. `answers`: a person's answers to an `ask` stage.",
        ),
        optional(
            "format",
            Shape::Word(FORMATS),
            "`bundle` is YAML front matter and Markdown. A reply and answers are `json` unless said otherwise.",
        ),
        optional(
            "schema",
            Shape::Either(&[Shape::Reference, Shape::Schema]),
            "A JSON Schema: a file beside the definition, or the schema itself. Only with `json`.",
        ),
        optional("require", TEXTS, "Fields that must be there and not empty."),
        optional(
            "equals",
            Shape::Map {
                keys: &Shape::Field,
                values: &Shape::Scalar,
            },
            "What fields must say. A value may hold {agent}, {stage}, {run}, {step} and parameters; a star at its end stands for anything.",
        ),
        optional(
            "outcome",
            Shape::Table(&OUTCOME),
            "The field that holds the verdict.",
        ),
        optional(
            "approved",
            Shape::Table(&APPROVED),
            "Commands that it may bring. A person approves each one before the run goes on.",
        ),
        optional(
            "strict",
            Shape::Choice,
            "True (default): a missing or invalid one is a fault. False: it is a warning. A parameter in braces says `strict` or `advisory`.",
        ),
        optional(
            "max_bytes",
            Shape::Bytes,
            "The largest size; 262144 unless said otherwise.",
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
            "The words of the field and the outcomes that they mean. A list: each word is its own outcome.",
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
            Shape::Name,
            "The question to which commands lead that nobody has approved.",
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
            Shape::Name,
            "The stage that is never reached unless the others are passed before.",
        ),
        optional(
            "through",
            Shape::Either(&[Shape::Name, Shape::FilledList(&Shape::Name)]),
            "The stages that every way passes.",
        ),
        optional(
            "after",
            Shape::Name,
            "The stage from which on this must hold again.",
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
