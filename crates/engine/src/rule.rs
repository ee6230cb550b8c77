//! The rules by which events are decided, each with a stable code that people can look up.

macro_rules! rules {
    ($($variant:ident, $code:literal, $text:literal;)*) => {
        /// A rule of the engine. The code never changes its meaning.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Rule {
            $(#[doc = $text] $variant,)*
        }

        impl Rule {
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            pub fn code(self) -> &'static str {
                match self {
                    $(Self::$variant => $code,)*
                }
            }

            /// The rule in one sentence.
            pub fn text(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)*
                }
            }

            pub fn parse(code: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|rule| rule.code() == code)
            }
        }
    };
}

rules! {
    Begin, "GW-R01", "a run begins at the pipeline's start stage";
    Attach, "GW-R02", "a session holds a run until it ends";
    HeldElsewhere, "GW-R03", "a run is held by one session at a time";
    NotBound, "GW-R04", "only the session that holds the run can move it";
    Fork, "GW-R05", "a fork goes on from a recorded point of another run";
    TakeUp, "GW-R06", "a queued run is taken up once";
    SessionOver, "GW-R07", "the workers of a session end with it, and may begin again";
    NeverBegan, "GW-R08", "work that never began is dropped when a person speaks next";

    AgentInTurn, "GW-R10", "the stage's own agent may work";
    AgentOutOfTurn, "GW-R11", "only the agents of the present stage may work";
    AgentBusy, "GW-R12", "one piece of work is done by one worker at a time";
    StepUnnamed, "GW-R13", "a call into a task graph names its step";
    StepNotReady, "GW-R14", "a step begins when the steps that it needs are done";
    ParallelLimit, "GW-R15", "no more steps work at once than the stage allows";
    RunIsOver, "GW-R16", "a run that is over admits no work";
    RunWaits, "GW-R17", "a run that waits for a person admits no work";
    BudgetSpent, "GW-R18", "no work begins when the budget is used up";
    Advised, "GW-R19", "an advisory pipeline says what it would refuse, and lets it through";
    ToolDenied, "GW-R20", "the stage forbids this tool";
    ToolFree, "GW-R21", "the stage does not restrict this tool";

    Unadmitted, "GW-R22", "an agent that was not admitted does nothing";
    OwnFiles, "GW-R23", "what a run rests on is not the agent's to change";
    ArtifactOwner, "GW-R24", "an artifact is written by the agent that leaves it";
    HooksStay, "GW-R25", "a session stays guarded while it holds a run";
    BypassAttempt, "GW-R26", "agents begin one by one, where each can be admitted";
    StillBeginning, "GW-R27", "of two kinds of work of one agent, one begins after the other";
    TodoAhead, "GW-R28", "a step is done when its work was checked, whatever a list says";
    MessageFree, "GW-R29", "a worker at work may be written to";

    Unmatched, "GW-R30", "a completion that matches no dispatch advances nothing";
    Late, "GW-R31", "work of a stage that the run has left advances nothing";
    OutcomeChecked, "GW-R32", "a stage is left only with an outcome that was checked";
    OutcomeUnknown, "GW-R33", "an outcome outside the closed set advances nothing";
    ArtifactMissing, "GW-R34", "work without its valid artifact is not done";
    ArtifactOld, "GW-R35", "an artifact belongs to the attempt that left it";
    Hollow, "GW-R36", "work with no tool use and nothing left is hollow";
    WorkFault, "GW-R37", "a fault is retried with its reason, then a person decides";
    Strayed, "GW-R38", "a stage changes only what its `writes` allows";
    NotByHand, "GW-R39", "a report advances only a run that was started by hand";
    TimedOut, "GW-R40", "work that exceeds its time limit has failed";
    Began, "GW-R41", "an agent's work is tied to its dispatch when it begins";
    Again, "GW-R42", "an end counts once, however often it is told";
    SentBack, "GW-R43", "a worker without what it must leave is sent back, twice at most";

    CheckRan, "GW-R50", "a check passes when every command exits with 0";
    CheckVoid, "GW-R51", "a check counts only if the tree is the same before and after";
    CheckElsewhere, "GW-R52", "a check counts only for the stage and visit that it ran for";
    CheckUnapproved, "GW-R53", "commands from an artifact run only after a person approved it";
    StaleGate, "GW-R54", "an approval holds for the tree that it looked at";
    CheckCannotRun, "GW-R55", "a check that cannot start says nothing about the work";
    CommandsAdded, "GW-R56", "commands that work adds are approved by a person before the run goes on";

    Answer, "GW-R60", "a question is answered with one of its choices";
    AnswerUnknown, "GW-R61", "an answer outside the choices is not an answer";
    NothingAsked, "GW-R62", "only a question can be answered";
    AnswersIncomplete, "GW-R63", "every question of a worker is answered at once";
    Finish, "GW-R64", "a person ends an open stage";
    NothingToFinish, "GW-R65", "only an open stage can be finished";
    PersonOnly, "GW-R66", "only a person can do this";
    Skip, "GW-R67", "a skip is an override and marks the run for ever";
    SkipNowhere, "GW-R68", "a skip takes one of the stage's own outcomes";
    Retry, "GW-R69", "a person may have the work of a stage tried again";
    NothingToRetry, "GW-R70", "only work that failed can be tried again";
    Cancel, "GW-R71", "a person may cancel a run that is not over";
    Reset, "GW-R72", "only a person resets, with a reason, and the history stays";
    Checkpoint, "GW-R73", "a checkpoint names a point of the journal";
    Restore, "GW-R74", "a restore goes back to a recorded state, and the history stays";
    Continue, "GW-R75", "a person may let a stale, abandoned, over-budget or halted run go on";
    NothingToContinue, "GW-R76", "only a run that was stopped can be continued";

    Salvaged, "GW-R77", "a run that was salvaged from a damaged store says what it lost";
    Bypass, "GW-R78", "a person may let a run go unguarded for a while, with a reason";
    Bypassed, "GW-R79", "a bypassed run says what it would refuse, and lets it through";

    Reviewed, "GW-R80", "every reviewer approves one tree before a review is passed";
    RoundsSpent, "GW-R81", "rounds are limited; after the last one the review is exceeded";
    Fixed, "GW-R82", "the owner fixes what a reviewer found, and the round goes on";

    Planned, "GW-R85", "the members of a task graph are stored when it is planned";
    PlanUnusable, "GW-R86", "a task graph has known agents, existing needs and no cycle";

    StopFree, "GW-R90", "a session may stop when nothing holds it";
    StopHeld, "GW-R91", "a session does not stop before the stage's work is done";
    StopAbandoned, "GW-R92", "after three holds without progress the run waits for a person";
    WentStale, "GW-R93", "a run past its time to live asks before it goes on";
    Quiet, "GW-R94", "there is nothing to judge";
    Inject, "GW-R95", "a stage may give the session its text";
    OutcomeTaken, "GW-R96", "an outcome leads where the definition says";
    CounterFull, "GW-R97", "a counter that is full leads to its `then`";
    Interrupted, "GW-R98", "an escalation returns to where it interrupted";
    Remarked, "GW-R99", "what a session does may be worth a line";
    Unevaluated, "GW-R100", "what nobody judged is marked";
    Undecided, "GW-R101", "what cannot be judged is refused where a gate was promised";
    InputAltered, "GW-R102", "a worker is given what was captured, whatever became of the file";
    ViewChanged, "GW-R103", "a view is never read back: what others do to it changes nothing and is noted";
    Halted, "GW-R104", "who removes a view with `removed = \"wait\"` stops the run for a person";
}
