//! The keys of views: one for each format, and what may be said of its file.

use super::*;

const VIEW_OR_PATH: Shape = Shape::Either(&[Shape::Filled, Shape::Table(&VIEW)]);

pub(crate) static VIEWS: Table = Table {
    name: "the views",
    parts: &[&[
        optional(
            "summary",
            VIEW_OR_PATH,
            "The task, the route, the checks and the decisions, as Markdown.",
        ),
        optional(
            "report",
            VIEW_OR_PATH,
            "How the run ended: what was done, checked and decided, and what it cost, as Markdown. It is written when the run ends.",
        ),
        optional("status", VIEW_OR_PATH, "The status of the run, as JSON."),
        optional(
            "diagram",
            VIEW_OR_PATH,
            "The pipeline with the run's current stage, as Mermaid.",
        ),
        optional(
            "log",
            VIEW_OR_PATH,
            "A line for each transition, approval, refusal, error and warning.",
        ),
        optional(
            "ansible-state",
            VIEW_OR_PATH,
            "Phase, agent, target and validations as YAML front matter, and a log.",
        ),
        optional(
            "pipeline-state",
            VIEW_OR_PATH,
            "The state, the captured context and the history of agents, as JSON.",
        ),
        optional(
            "task-state",
            VIEW_OR_PATH,
            "The state in one word, as JSON.",
        ),
        optional(
            "loop-state",
            Shape::Table(&LOOP_VIEW),
            "A loop with its iterations, as JSON.",
        ),
        optional(
            "workflow",
            VIEW_OR_PATH,
            "The steps as phases with their deliverables, as JSON.",
        ),
        optional(
            "workflow-report",
            VIEW_OR_PATH,
            "The steps as a list of phases that people read, as Markdown.",
        ),
        optional(
            "task-graph",
            VIEW_OR_PATH,
            "The steps with their needs and waves, as JSON.",
        ),
        optional(
            "sessions",
            VIEW_OR_PATH,
            "The sessions of the run, one per line.",
        ),
        optional(
            "template",
            Shape::List(&Shape::Table(&TEMPLATE_VIEW)),
            "Files that are rendered from templates of your own.",
        ),
    ]],
    choice: &[],
};

const FILE: &[Key] = &[
    required(
        "path",
        Shape::Filled,
        "The file in the project. It may contain {run} and parameters.",
    ),
    optional(
        "removed",
        Shape::Word(REMOVED),
        "What happens if somebody removes the file: `render` (default) writes it again; `wait` also makes the run wait for a person.",
    ),
    optional(
        "readers",
        Shape::Word(READERS),
        "Who may read the file: `owner` (default) is only your account; `all` leaves it to your umask.",
    ),
];

pub(crate) static VIEW: Table = Table {
    name: "a view",
    parts: &[FILE],
    choice: &[],
};

pub(crate) static LOOP_VIEW: Table = Table {
    name: "a loop view",
    parts: &[
        FILE,
        &[
            required("counter", COUNTER_NAME, "The counter of the iterations."),
            required(
                "promise",
                Shape::Filled,
                "What the worker says when it believes that it is done, or a parameter as \"{name}\".",
            ),
        ],
    ],
    choice: &[],
};

pub(crate) static TEMPLATE_VIEW: Table = Table {
    name: "a template view",
    parts: &[
        FILE,
        &[required(
            "file",
            Shape::Reference,
            "The template: a Jinja file next to the definition or below it. Its name ends in the format and `.j2`, such as `board.md.j2` or `state.json.j2`.",
        )],
    ],
    choice: &[],
};
