//! A view: a file that is rendered from the run after every change, and never read back.

use alloc::collections::BTreeMap;
use alloc::string::String;

use crate::names::{CounterName, ParamName};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View {
    pub format: ViewFormat,
    /// May contain `{run}` and parameters.
    pub path: String,
    pub removed: Removed,
    pub readers: Readers,
}

/// Who may read the file of a view. It tells what a run is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Readers {
    /// Only the account that Gatewright runs as.
    #[default]
    Owner,
    /// Everybody whom the umask of the account lets read.
    All,
}

/// What happens if somebody removes the file of a view.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Removed {
    /// Nothing: it is written again.
    #[default]
    Rendered,
    /// Stop: it is written again, and the run waits for a person.
    Waits,
}

/// What a view shows, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ViewFormat {
    /// The task, the route, the checks and the decisions, as Markdown.
    Summary,
    /// How the run ended: what was done, checked and decided, what it cost, and where to look, as Markdown.
    /// It is written when the run ends.
    Report,
    /// The status of the run, as JSON.
    Status,
    /// The pipeline with the run's current stage, as Mermaid.
    Diagram,
    /// A line for each transition, approval, refusal, error and warning.
    Log,
    /// Front matter with the phase and its validations, and a log: YAML and Markdown.
    AnsibleState,
    /// The state, the captured context and the history of agents, as JSON.
    PipelineState,
    /// The state in one word, as JSON.
    TaskState,
    /// A loop with its iterations, as JSON.
    LoopState(LoopView),
    /// The phases of a task graph with what they delivered, as JSON.
    Workflow,
    /// The same as a list that people read, as Markdown.
    WorkflowReport,
    /// The task graph with its waves, as JSON.
    TaskGraph,
    /// The sessions of the run, one per line.
    Sessions,
    /// Whatever the pipeline's own template makes of the run.
    Template(ViewTemplate),
}

/// A template that belongs to the definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ViewTemplate {
    /// Its file, relative to the definition. The name decides how values are escaped.
    pub file: String,
    pub text: String,
}

/// The loop that a view shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopView {
    /// It counts the iterations; the stage to which its edges lead is where the loop begins.
    pub counter: CounterName,
    /// What the worker says when it believes that it is done. It is only shown.
    pub promise: TextOrParam,
}

/// A text, written down or taken from a parameter when the run starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TextOrParam {
    Fixed(String),
    Param(ParamName),
}

impl TextOrParam {
    /// The text in a run with these parameters.
    pub fn text<'a>(&'a self, params: &'a BTreeMap<ParamName, String>) -> &'a str {
        match self {
            Self::Fixed(text) => text,
            Self::Param(param) => params.get(param).map_or("", String::as_str),
        }
    }
}

impl ViewFormat {
    /// Every format by its word.
    pub const WORDS: [&str; 14] = [
        "summary",
        "report",
        "status",
        "diagram",
        "log",
        "ansible-state",
        "pipeline-state",
        "task-state",
        Self::LOOP_STATE,
        "workflow",
        "workflow-report",
        "task-graph",
        "sessions",
        Self::TEMPLATE,
    ];

    /// The format that shows a loop. The view names the loop.
    pub const LOOP_STATE: &str = "loop-state";

    /// The format of templates, of which a pipeline may have several.
    pub const TEMPLATE: &str = "template";

    pub fn word(&self) -> &'static str {
        match self {
            Self::Summary => "summary",
            Self::Report => "report",
            Self::Status => "status",
            Self::Diagram => "diagram",
            Self::Log => "log",
            Self::AnsibleState => "ansible-state",
            Self::PipelineState => "pipeline-state",
            Self::TaskState => "task-state",
            Self::LoopState(_) => Self::LOOP_STATE,
            Self::Workflow => "workflow",
            Self::WorkflowReport => "workflow-report",
            Self::TaskGraph => "task-graph",
            Self::Sessions => "sessions",
            Self::Template(_) => Self::TEMPLATE,
        }
    }

    /// What people call a view of this format: its word, or the file of its template.
    pub fn name(&self) -> &str {
        if let Self::Template(template) = self {
            &template.file
        } else {
            self.word()
        }
    }

    /// The parameter that it shows.
    pub(crate) fn param(&self) -> Option<&ParamName> {
        if let Self::LoopState(view) = self
            && let TextOrParam::Param(param) = &view.promise
        {
            Some(param)
        } else {
            None
        }
    }

    /// The format of a word that needs no more than its word.
    pub fn parse(word: &str) -> Option<Self> {
        let plain = [
            Self::Summary,
            Self::Report,
            Self::Status,
            Self::Diagram,
            Self::Log,
            Self::AnsibleState,
            Self::PipelineState,
            Self::TaskState,
            Self::Workflow,
            Self::WorkflowReport,
            Self::TaskGraph,
            Self::Sessions,
        ];
        plain.into_iter().find(|format| format.word() == word)
    }
}
