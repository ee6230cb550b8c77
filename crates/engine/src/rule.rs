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
    Begin, "GW-R01", "a run starts at the pipeline's start stage";
    Attach, "GW-R02", "a session holds a run until it ends";
    HeldElsewhere, "GW-R03", "a run is held by one session at a time";
    NotBound, "GW-R04", "only the session that holds the run can move it";
    Fork, "GW-R05", "a fork continues from a recorded point of another run";
    TakeUp, "GW-R06", "a queued run is picked up once";
    SessionOver, "GW-R07", "the workers of a session end with it, and may start again";
    NeverBegan, "GW-R08", "work that never started is dropped at the person's next message";
    Unused, "GW-R09", "a run that began with its session and did nothing ends after it";

    AgentInTurn, "GW-R10", "the stage's own agent may work";
    AgentOutOfTurn, "GW-R11", "only the agents of the current stage may work";
    AgentBusy, "GW-R12", "one worker at a time does a piece of work";
    StepUnnamed, "GW-R13", "a call into a task graph names its step";
    StepNotReady, "GW-R14", "a step starts when the steps that it needs are done";
    ParallelLimit, "GW-R15", "no more steps run at once than the stage allows";
    RunIsOver, "GW-R16", "no work starts in a run that is over";
    RunWaits, "GW-R17", "no work starts in a run that waits for a person";
    BudgetSpent, "GW-R18", "no work starts when the budget is used up";
    Advised, "GW-R19", "an advisory pipeline reports what it would refuse, and allows it";
    ToolDenied, "GW-R20", "the stage forbids this tool";
    ToolFree, "GW-R21", "the stage does not restrict this tool";

    Unadmitted, "GW-R22", "an agent that was not admitted may not use tools";
    OwnFiles, "GW-R23", "an agent cannot change the state, settings, pipeline or program of its run";
    ArtifactOwner, "GW-R24", "only the agent that leaves an artifact may write it";
    HooksStay, "GW-R25", "a session stays guarded while it holds a run";
    BypassAttempt, "GW-R26", "an agent starts only by a call that can be admitted";
    StillBeginning, "GW-R27", "an agent starts two pieces of work at once only as two steps that its calls name";
    TodoAhead, "GW-R28", "a step is done when its work is checked, whatever a to-do list says";
    MessageFree, "GW-R29", "a session may message a worker that is working";

    Unmatched, "GW-R30", "a completion without a matching dispatch does not advance the run";
    Late, "GW-R31", "work of a stage that the run has left does not advance the run";
    OutcomeChecked, "GW-R32", "a stage is left only with an outcome that was checked";
    OutcomeUnknown, "GW-R33", "an outcome outside the closed set does not advance the run";
    ArtifactMissing, "GW-R34", "work without its valid artifact is not done";
    ArtifactOld, "GW-R35", "an artifact must be written in the attempt that it counts for";
    Hollow, "GW-R36", "work without tool use and artifacts is hollow";
    WorkFault, "GW-R37", "a fault is retried with its reason, then a person decides";
    Strayed, "GW-R38", "a stage changes only what its `writes` allows";
    NotByHand, "GW-R39", "a report advances only a run that is driven by hand";
    TimedOut, "GW-R40", "work that exceeds its time limit has failed";
    Began, "GW-R41", "an agent is bound to its dispatch when it starts";
    Again, "GW-R42", "an end counts once, however often it is reported";
    SentBack, "GW-R43", "a worker without its artifacts is sent back, at most twice";

    CheckRan, "GW-R50", "a check passes when every command exits with 0";
    CheckVoid, "GW-R51", "a check counts only if the tree is the same before and after";
    CheckElsewhere, "GW-R52", "a check counts only for the stage and visit that it ran for";
    CheckUnapproved, "GW-R53", "commands from an artifact run only after a person approved it";
    StaleGate, "GW-R54", "an approval is valid only for the tree that was checked";
    CheckCannotRun, "GW-R55", "a check that cannot start gives no verdict";
    CommandsAdded, "GW-R56", "a person approves commands that work adds before the run continues";
    EnvironmentLost, "GW-R57", "a check runs in the environment that the run began with, or that a person gave it since";
    ProgramUnaccepted, "GW-R58", "a program that the account can change is evidence only as a person accepted it";
    Vouched, "GW-R59", "a person vouches for the environment and the programs of checks";

    Answer, "GW-R60", "a question is answered with one of its choices";
    AnswerUnknown, "GW-R61", "an answer outside the choices is not an answer";
    NothingAsked, "GW-R62", "only a question can be answered";
    AnswersIncomplete, "GW-R63", "all questions of a worker are answered together";
    Finish, "GW-R64", "a person ends an open stage";
    NothingToFinish, "GW-R65", "only an open stage can be finished";
    PersonOnly, "GW-R66", "only a person can do this";
    Skip, "GW-R67", "a skip is an override and marks the run permanently";
    SkipNowhere, "GW-R68", "a skip takes one of the stage's own outcomes";
    Retry, "GW-R69", "a person may retry the work of a stage";
    NothingToRetry, "GW-R70", "only work that failed can be retried";
    Cancel, "GW-R71", "a person may cancel a run that is not over";
    Reset, "GW-R72", "only a person resets, with a reason, and the history stays";
    Checkpoint, "GW-R73", "a checkpoint names a point of the journal";
    Restore, "GW-R74", "a restore returns to a recorded state, and the history stays";
    Continue, "GW-R75", "a person may continue a stale, abandoned, over-budget or halted run";
    NothingToContinue, "GW-R76", "only a run that was stopped can be continued";

    Salvaged, "GW-R77", "a run salvaged from a damaged store records what it lost";
    Bypass, "GW-R78", "a person may bypass the guards of a run for a while, with a reason";
    Bypassed, "GW-R79", "a bypassed run reports what it would refuse, and allows it";

    Reviewed, "GW-R80", "a review passes when every reviewer approves the same tree";
    RoundsSpent, "GW-R81", "rounds are limited; after the last one the review is exceeded";
    Fixed, "GW-R82", "the owner fixes what a reviewer found, and the round continues";

    Planned, "GW-R85", "the members of a task graph are stored when it is planned";
    PlanUnusable, "GW-R86", "a task graph has known agents, existing needs and no cycle";

    StopFree, "GW-R90", "a session may stop when nothing holds it";
    StopHeld, "GW-R91", "a session may not stop before the stage's work is done";
    StopAbandoned, "GW-R92", "after three holds without progress the run waits for a person";
    WentStale, "GW-R93", "a run past its time to live asks before it continues";
    Quiet, "GW-R94", "there is nothing to judge";
    Inject, "GW-R95", "a stage may add its text to the session";
    OutcomeTaken, "GW-R96", "an outcome leads where the definition says";
    CounterFull, "GW-R97", "a full counter leads to its `then` stage";
    Interrupted, "GW-R98", "an escalation returns to where it interrupted";
    Remarked, "GW-R99", "an event of a session may be worth a note";
    Unevaluated, "GW-R100", "events that were not judged are marked";
    Undecided, "GW-R101", "in an enforced run, what cannot be judged is refused";
    InputAltered, "GW-R102", "a worker gets the captured content, even if the file changed";
    ViewChanged, "GW-R103", "a view is never read back: changes by others have no effect and are noted";
    Halted, "GW-R104", "removing a view with `removed = \"wait\"` stops the run for a person";
    Helper, "GW-R105", "a read-only helper may look around in any stage, and changes nothing";
    WorkerInterrupted, "GW-R106", "a worker that a person interrupts is over, costs no attempt, and may start again";
    Unguarded, "GW-R107", "work that no hook guarded marks the run, which then completes only with a person's word";
    AcceptUnguarded, "GW-R108", "a person may accept the work that no hook guarded";
    WordsMissing, "GW-R109", "a choice that needs a person's words is not an answer without them";
    Routed, "GW-R115", "a route is decided by the engine from evidence: its rules in order, then `otherwise`";
    RouteUnseen, "GW-R116", "a route whose evidence cannot be looked at takes its longer way";
    RouteKept, "GW-R117", "the engine checks a route again before each gate and before the end";
    Outgrown, "GW-R118", "a change that no longer meets the rule of its route goes the longer way";
    OtherModel, "GW-R119", "an agent works with the model that the definition names for it";
    RefMoved, "GW-R120", "a step does not move the branches and tags of a person: what it moved is put back, and the other value is kept";
    ChangedOutside, "GW-R121", "a change outside a worker's folder while it works is recorded";
    TaskGiven, "GW-R122", "the task of a run that began with its session is what the person writes before an agent works";
    TaskBegan, "GW-R123", "the next task of a run begins without the artifacts, approvals and history of the last one";
    Imported, "GW-R124", "a run that was loaded from a file says so in its history";
    Edits, "GW-R125", "what a person changes in an artifact while a question is open counts if they say so";
    Placed, "GW-R130", "a run with a branch of its own begins in its own worktree";
    Delivered, "GW-R131", "the work of a run on its own branch is delivered when the run is over";
    DeliveryFailed, "GW-R132", "a delivery that fails leaves the run as it is, and can be repeated";
    Relocated, "GW-R133", "another machine of the fleet continues a run from the last tree that was kept, and restarts its open work";
    CutShort, "GW-R140", "work whose process is ended early stays open, and what it used counts";
    LimitReached, "GW-R141", "work rests while its service asks to wait, and that costs no attempt";
    WentOn, "GW-R142", "rested work continues in the same attempt, with its service or a fallback";
    Driven, "GW-R143", "the time of a headless run counts while it is driven";
    Adopted, "GW-R150", "a person may adopt a run whose machine is lost: it continues from the last shipped entry, and its history names the gap";
}
