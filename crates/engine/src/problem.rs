//! Problems: what the checker says about a definition, and where.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

/// A place in the definition, as the keys that lead to it: `stages`, `linting`, `on`, `passed`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place(pub Vec<String>);

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("."))
    }
}

/// Makes a place from its keys.
#[macro_export]
macro_rules! place {
    ($($key:expr),+ $(,)?) => {
        $crate::Place(alloc::vec![$(alloc::string::ToString::to_string(&$key)),+])
    };
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    Error,
    Warning,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub rule: CheckRule,
    pub place: Place,
    pub message: String,
    /// What to write instead.
    pub hint: String,
}

macro_rules! check_rules {
    ($($variant:ident, $code:literal, $severity:ident, $text:literal;)*) => {
        /// A rule of the checker. The code never changes its meaning.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum CheckRule {
            $(#[doc = $text] $variant,)*
        }

        impl CheckRule {
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            pub fn code(self) -> &'static str {
                match self { $(Self::$variant => $code,)* }
            }

            pub fn severity(self) -> Severity {
                match self { $(Self::$variant => Severity::$severity,)* }
            }

            pub fn text(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }
        }
    };
}

check_rules! {
    UnknownStage, "GW-L201", Error, "a target names a stage that exists";
    UnknownArtifact, "GW-L202", Error, "an artifact is declared before it is used";
    UnknownCounter, "GW-L203", Error, "a counter is declared before it is used";
    UnknownParam, "GW-L204", Error, "a parameter is declared before it is used";
    DuplicateStage, "GW-L206", Error, "a stage's name is used once";
    NoStages, "GW-L207", Error, "a pipeline has stages";
    TooMany, "GW-L208", Error, "a definition stays within its limits";
    BadLimit, "GW-L209", Error, "a limit is a number, or a parameter whose values are numbers";
    BadParamTarget, "GW-L210", Error, "a parameter used as a target has choices that are stages";
    BadParam, "GW-L211", Error, "a parameter's default is one of its choices";
    IdleCommand, "GW-L212", Error, "a slash command does something in some stage";

    Unreachable, "GW-L220", Error, "every stage can be reached";
    DeadEnd, "GW-L221", Error, "every stage that is not an end has an edge";
    Trap, "GW-L222", Error, "from every stage an end can be reached";
    UncountedLoop, "GW-L223", Error, "every loop has a counter or a person in it";
    UnhandledOutcome, "GW-L224", Error, "every outcome that can happen is handled";
    ImpossibleOutcome, "GW-L225", Error, "every handled outcome can happen";
    InterruptedAtStart, "GW-L226", Error, "the start stage cannot return to an interruption";
    NoCompletion, "GW-L227", Error, "some end is `completed`";
    AfterNotAllowed, "GW-L228", Error, "an `after` names agents that the stage allows";
    EdgeOnEnd, "GW-L229", Error, "an end has no outcomes";
    CountedReturn, "GW-L230", Error, "a return to an interruption does not count by itself";

    ChangedUnseen, "GW-L231", Error, "changes to the tree after a gate are checked again before the end";
    AfterShadowed, "GW-L232", Error, "an `after` is not covered by an earlier one";
    NestedReturn, "GW-L233", Error, "an escalation does not return into another escalation";

    WordsUnasked, "GW-L234", Error, "only a choice of a question can require a person's words";

    RouteDefault, "GW-L235", Error, "a route has a default, `on.otherwise`, that names a stage";
    RouteDead, "GW-L236", Error, "every rule of a route can be reached and can hold";
    RouteByWord, "GW-L237", Error, "the verdict of an agent decides a route only together with evidence that can overrule it";
    RouteBySetting, "GW-L238", Error, "a parameter that decides a route is given by a person, not by a setting";

    TwoVerdicts, "GW-L240", Error, "at most one artifact decides a stage's outcome";
    VerdictNotStrict, "GW-L241", Error, "an artifact that decides an outcome is strict";
    VerdictNotAlways, "GW-L242", Error, "the artifact that decides the outcome is always left";
    ReadBeforeWritten, "GW-L243", Error, "an artifact is read only where every path has written it";
    UnapprovedCommands, "GW-L244", Error, "commands of an artifact are approved on every path to them";
    ReviewVerdict, "GW-L245", Error, "a reviewer's values mean approved, needs_changes or needs_clarification";
    PanelEmpty, "GW-L246", Error, "a panel has reviewers";
    SharedPath, "GW-L247", Error, "two artifacts do not share a path";
    StepPath, "GW-L248", Error, "artifacts of parallel steps have {step} in their path";
    SourceMismatch, "GW-L249", Error, "only an ask stage leaves answers, and only answers";
    BadPath, "GW-L250", Error, "a path stays inside the project";
    BadSteps, "GW-L251", Error, "a task graph has known needs and no cycle";
    EmptyCommand, "GW-L252", Error, "a check has commands";
    FieldNeedsJson, "GW-L253", Error, "fields are read from json or bundle artifacts";

    ApprovedByNobody, "GW-L254", Error, "only a person's answer approves";
    WorkVerdict, "GW-L255", Error, "artifacts of steps and open agents mean done or failed";
    BadStrictness, "GW-L256", Error, "a parameter for the strictness of an artifact is strict or advisory";
    AddedCommands, "GW-L257", Error, "commands that an artifact adds lead to a question that approves it";
    OutOfReach, "GW-L258", Error, "an artifact is where a worker may write";
    BadTemplate, "GW-L259", Error, "a template of a view renders every run of its pipeline";

    ProofFails, "GW-L260", Error, "the claims of `prove` are true";
    ProofVacuous, "GW-L261", Error, "a proof names stages that exist and can be reached";

    DemandedModel, "GW-L263", Error, "a reviewer whose model or program a panel names has no fallback";
    EmptyFallback, "GW-L264", Error, "a fallback is another program or model than those before it";
    UnknownRunner, "GW-L265", Error, "a runner is known";
    NoScript, "GW-L266", Error, "the runner `command` has a script whose first line names its interpreter";
    RunnerCannot, "GW-L267", Error, "a runner supports what its pipeline needs";

    UnusedArtifact, "GW-L270", Warning, "an artifact is left or read somewhere";
    UnusedCounter, "GW-L271", Warning, "a counter is counted somewhere";
    UnusedGroup, "GW-L272", Warning, "a group is used somewhere";
    UnusedParam, "GW-L273", Warning, "a parameter is used somewhere";
    GroupShadowsAgent, "GW-L274", Warning, "a group and an agent do not share a name";
    NothingProved, "GW-L275", Warning, "a pipeline states its promise with `prove`";
    ResumeWithoutReset, "GW-L276", Warning, "an escalation that continues resets its counter";
    PartlyCounted, "GW-L277", Warning, "a budget counts what every runner uses";
}
