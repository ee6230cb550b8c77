//! The ten tasks, the pipelines that take them, and what the model says to whom.

use testkit::model::{Actor, Request, Turn, bash, hold, limit_first, say};

/// The turns that last until the machine has crashed. All of them have begun by then.
pub(super) const HELD: [&str; 3] = ["CLAUDE-THINKS", "CODEX-THINKS", "EDITOR-THINKS"];

/// The limits begin after the crash: each program must be there to be refused as often as it asks.
pub(super) const LIMITED: &str = "THE-PLAN-IS-USED-UP";

/// One task of the night.
pub(super) struct Task {
    pub run: &'static str,
    pub text: &'static str,
    pub pipeline: &'static str,
    pub runner: &'static str,
    /// Who works on it.
    pub workers: &'static [&'static str],
    /// The files of its branch that differ from the base.
    pub changes: &'static [&'static str],
}

impl Task {
    /// The name of the actor that plays this worker.
    pub(super) fn actor(&self, worker: &str) -> String {
        format!("{} of {}", worker, self.run)
    }

    pub(super) fn is_done_at_last(&self) -> bool {
        !self.changes.is_empty()
    }
}

/// The worker that passes its budget.
pub(super) const FRUGAL: &str = "maker of r-frugal";

const MAKER: &[&str] = &["maker"];
const MAKER_AND_CRITIC: &[&str] = &["maker", "critic"];

/// A task that one agent does.
const fn task(
    run: &'static str,
    text: &'static str,
    runner: &'static str,
    changes: &'static [&'static str],
) -> Task {
    Task {
        run,
        text,
        pipeline: "making.toml",
        runner,
        workers: MAKER,
        changes,
    }
}

pub(super) const TASKS: [Task; 10] = [
    task(
        "r-plain",
        "Make the first part",
        "codex",
        &["made/r-plain.txt"],
    ),
    Task {
        pipeline: "asking.toml",
        workers: MAKER_AND_CRITIC,
        ..task(
            "r-ask",
            "Make a part that a person must see",
            "claude",
            &["made/r-ask.txt", "verdict.txt"],
        )
    },
    task(
        "r-crash-claude",
        "Make the part of the night",
        "claude",
        &["made/r-crash-claude.txt", "trace.txt"],
    ),
    task(
        "r-crash-codex",
        "Make the part of midnight",
        "codex",
        &["made/r-crash-codex.txt", "trace.txt"],
    ),
    task(
        "r-edit",
        "Make another heading",
        "claude",
        &["heading.txt", "made/r-edit.txt"],
    ),
    task(
        "r-limit-claude",
        "Make a part while the plan is used up",
        "claude",
        &["made/r-limit-claude.txt"],
    ),
    task(
        "r-limit-codex",
        "Make a part when the quota is empty",
        "codex",
        &["made/r-limit-codex.txt"],
    ),
    Task {
        pipeline: "frugal.toml",
        ..task("r-frugal", "Make a part with few words", "claude", &[])
    },
    task("r-broken", "Make a part that does not hold", "codex", &[]),
    Task {
        pipeline: "reviewed.toml",
        workers: MAKER_AND_CRITIC,
        ..task(
            "r-reviewed",
            "Make a part that the other vendor reads",
            "claude",
            &["made/r-reviewed.txt", "verdict.txt"],
        )
    },
];

/// The pipelines of the project, by their file.
pub(super) fn pipelines() -> [(&'static str, String); 4] {
    let making = pipeline("making", "", "complete", "");
    let frugal = pipeline("frugal", "budget = { tokens = 100000 }", "complete", "");
    let ask = "[stages.asking]\nask = \"Is it enough?\"\non.yes = \"reading\"\non.no = \"stopped\"";
    let asking = pipeline("asking", "", "asking", &format!("{ask}\n{READING}"));
    let reviewed = pipeline("reviewed", "", "reading", READING);
    [
        ("making.toml", making),
        ("frugal.toml", frugal),
        ("asking.toml", asking),
        ("reviewed.toml", reviewed),
    ]
}

/// Codex reads what Claude Code has made.
const READING: &str = r#"
[artifacts.verdict]
path   = "verdict.txt"
format = "text"

[stages.reading]
agent   = "critic"
runner  = "codex"
leaves  = ["verdict"]
writes  = []
on.done = "complete"
"#;

fn pipeline(name: &str, more: &str, then: &str, stages: &str) -> String {
    format!(
        r#"
name  = "{name}"
about = "Have a part made and tested."
start = "making"
{more}

[artifacts.part]
path   = "made/{{run}}.txt"
format = "text"

[stages.making]
agent   = "maker"
leaves  = ["part"]
retry   = 0
on.done = "testing"

[stages.testing]
check     = ["sh check.sh"]
on.passed = "{then}"
on.failed = "stopped"

[stages.complete]
end = "completed"

[stages.stopped]
end = "failed"
{stages}
"#
    )
}

/// What every worker says.
pub(super) fn script() -> Vec<Actor> {
    let makers = TASKS.iter().map(|task| actor(task, "maker", maker(task)));
    let with_critic = TASKS.iter().filter(|task| task.workers.contains(&"critic"));
    let reads = || bash("cat made/*.txt && echo good > verdict.txt");
    let critics = with_critic.map(|task| actor(task, "critic", vec![reads(), say("READ")]));
    makers.chain(critics).collect()
}

/// It plays where the worker was told this task. Nothing else leads a worker to its part.
fn actor(task: &Task, worker: &'static str, turns: Vec<Turn>) -> Actor {
    let text = task.text;
    let plays = move |request: &Request| {
        let told = request.first_message();
        told.contains(text) && told.contains(&format!("You are '{worker}'"))
    };
    Actor::when(&task.actor(worker), plays, turns)
}

fn maker(task: &Task) -> Vec<Turn> {
    let run = task.run;
    let makes = |more: &str| bash(&format!("mkdir -p made; echo part > made/{run}.txt{more}"));
    let traces = || bash("echo once >> trace.txt");
    let dear = |turn: Turn| turn.having_read(40_000);
    let mut turns = match run {
        "r-crash-claude" => vec![traces(), hold(HELD[0], makes(""))],
        "r-crash-codex" => vec![traces(), hold(HELD[1], makes(""))],
        "r-edit" => vec![hold(HELD[2], makes("; echo A heading > heading.txt"))],
        // Claude Code asks once more before it gives up.
        "r-limit-claude" => vec![hold(LIMITED, bash("ls")), limit_first(3, 2, makes(""))],
        "r-limit-codex" => vec![hold(LIMITED, bash("ls")), limit_first(3, 1, makes(""))],
        "r-frugal" => vec![
            dear(bash("ls")),
            dear(bash("cat check.sh")),
            dear(bash("cat heading.txt")),
            hold("THE-DEAR-ONE-THINKS", dear(makes(""))),
        ],
        "r-broken" => vec![makes("; echo BROKEN > made/broken.txt")],
        _ => vec![makes("")],
    };
    turns.push(say("MADE"));
    turns
}
