//! The demo: runs the built-in pipeline `multi-ai` through the same code as the commands.
//!
//! The demo writes the artifacts of the agents and gives the answers of the person. Everything else is
//! real: Gatewright checks the artifacts, decides, runs the test and writes the journal.

mod artifacts;
mod demo_run;

use engine::RunId;
use runtime::context::Context;
use runtime::failure::Failure;
use runtime::workspace::Workspace;
use serde_json::{Value, json};
use tempfile::TempDir;
use views::{Paint, Style};

use self::artifacts::ReviewVerdict;
use self::demo_run::DemoRun;
use crate::exit::Exit;
use crate::output::{Format, Output};
use crate::verification;

const OPENING: &str = "\
The built-in pipeline 'multi-ai' in a temporary folder, without agents, models or a network:
the demo writes the agents' files and answers for you. Everything else is real.
";

const CLOSING: &str = "\
The folder is deleted. Look closer:
  gatewright graph multi-ai          draws the whole pipeline
  gatewright pipelines multi-ai      prints its definition
  gatewright start multi-ai --task 'greet people' --by-hand
";

/// A stage for the play: a project and a state folder that go when this goes.
pub(crate) struct Play {
    folder: TempDir,
    context: Context,
}

/// One line of the play.
pub(crate) struct Act {
    word: &'static str,
    text: String,
}

impl Play {
    pub(crate) fn new(context: &Context) -> Result<Self, Failure> {
        let folder = tempfile::Builder::new()
            .prefix("gatewright-demo-")
            .tempdir();
        let folder = folder.map_err(|cause| {
            Failure::environment(format!("cannot make a temporary folder ({cause})"))
                .hint("set TMPDIR to a writable folder")
        })?;
        let (project, state) = (folder.path().join("project"), folder.path().join("state"));
        std::fs::create_dir(&project).map_err(Failure::file("make", &project))?;
        let context = context.relocated(project, state);
        Ok(Self { folder, context })
    }

    /// Plays it, a line at a time.
    pub(crate) fn perform(self, output: &mut Output) -> Result<Exit, Failure> {
        let workspace = Workspace::for_writing(&self.context)?;
        let mut narrator = Narrator::new(output);
        narrator.begin()?;
        let mut demo_run = DemoRun::open(workspace, &self.context)?;
        let run = story(&mut demo_run, &mut narrator)?;
        let intact = verified(&mut demo_run, &run, &mut narrator)?;
        drop(demo_run);
        let folder = self.folder.path().to_owned();
        self.folder
            .close()
            .map_err(Failure::file("remove", &folder))?;
        narrator.end(&run, intact)?;
        Ok(if intact { Exit::Success } else { Exit::No })
    }
}

/// The steps in order. Each requires the answer that it expects.
fn story(demo_run: &mut DemoRun<'_>, narrator: &mut Narrator<'_>) -> Result<RunId, Failure> {
    narrator.act(
        "start",
        Style::Strong,
        "multi-ai, for the task \"greet people by name\"",
    )?;
    requirements(demo_run, narrator)?;
    plan(demo_run, narrator)?;
    code(demo_run, narrator)?;
    demo_run.ended()
}

fn requirements(demo_run: &mut DemoRun<'_>, narrator: &mut Narrator<'_>) -> Result<(), Failure> {
    demo_run.write("greet.sh", artifacts::GREETING_WRONG)?;
    let refused = demo_run.refused("implementer")?;
    narrator.act(
        "REFUSED",
        Style::Bad,
        &format!("'implementer' starts to code. {refused}"),
    )?;

    demo_run.leaves(&[artifacts::SIGNAL_QUESTION], "requirements-gatherer")?;
    let question = demo_run.question()?;
    demo_run.answers(&[("language", "English")])?;
    narrator.act(
        "answer",
        Style::Wait,
        &format!("the requirements-gatherer asks: {question} English"),
    )?;

    demo_run.leaves(
        &[artifacts::SIGNAL_GATHERED, artifacts::STORY],
        "requirements-gatherer",
    )?;
    let question = demo_run.asked()?;
    demo_run.chooses("approve")?;
    narrator.act(
        "answer",
        Style::Wait,
        &format!("{question}: you answer approve"),
    )
}

fn plan(demo_run: &mut DemoRun<'_>, narrator: &mut Narrator<'_>) -> Result<(), Failure> {
    demo_run.leaves(&[artifacts::SIGNAL_DRAFTED, artifacts::PLAN], "planner")?;
    demo_run.leaves(
        &[artifacts::SIGNAL_REFINED, artifacts::PLAN_REFINED],
        "planner",
    )?;
    narrator.act(
        "left",
        Style::Normal,
        "the planner writes a draft, then the plan: both match their schema",
    )?;

    let looks_good = ReviewVerdict {
        reviewer: "plan-reviewer",
        model: "sonnet",
        status: "LGTM",
        summary: "looks good to me",
    };
    demo_run.write(artifacts::PLAN_SONNET, &looks_good.text())?;
    let refused = demo_run.refused("plan-reviewer")?;
    narrator.act(
        "REFUSED",
        Style::Bad,
        &format!("a reviewer writes \"LGTM\". {refused}"),
    )?;

    let panel = [
        ("plan-reviewer", "sonnet", artifacts::PLAN_SONNET),
        ("plan-reviewer", "opus", artifacts::PLAN_OPUS),
        ("review-codex", "codex", artifacts::PLAN_CODEX),
    ];
    approve(demo_run, panel, "nothing to add")?;
    narrator.act(
        "review",
        Style::Good,
        "three reviewers approve the plan, all on the same bytes",
    )
}

fn code(demo_run: &mut DemoRun<'_>, narrator: &mut Narrator<'_>) -> Result<(), Failure> {
    demo_run.write("tests/greeting.sh", artifacts::TEST)?;
    demo_run.leaves(&[artifacts::RESULT], "implementer")?;
    narrator.act(
        "left",
        Style::Normal,
        "the implementer writes greet.sh and says that all tests pass",
    )?;
    review(demo_run, "nothing to add")?;
    narrator.act("review", Style::Good, "three reviewers approve the code")?;
    let failed = demo_run.checks()?;
    narrator.act(
        "FAILED",
        Style::Bad,
        &format!("gatewright runs the test that you approved: {failed}"),
    )?;

    demo_run.write("greet.sh", artifacts::GREETING_RIGHT)?;
    demo_run.leaves(&[artifacts::RESULT_AGAIN], "implementer")?;
    narrator.act(
        "left",
        Style::Normal,
        "the implementer fixes greet.sh: the old approvals no longer count",
    )?;
    review(demo_run, "now it greets by name")?;
    narrator.act(
        "review",
        Style::Good,
        "three reviewers approve the new code",
    )?;
    let passed = demo_run.checks()?;
    narrator.act(
        "passed",
        Style::Good,
        &format!("gatewright runs the test: {passed}"),
    )?;
    narrator.act("done", Style::Strong, "the run is completed")
}

fn review(demo_run: &mut DemoRun<'_>, summary: &'static str) -> Result<(), Failure> {
    let panel = [
        ("code-reviewer", "sonnet", artifacts::CODE_SONNET),
        ("code-reviewer", "opus", artifacts::CODE_OPUS),
        ("review-codex", "codex", artifacts::CODE_CODEX),
    ];
    approve(demo_run, panel, summary)
}

/// Every reviewer of the panel, with its model and its file, approves.
fn approve(
    demo_run: &mut DemoRun<'_>,
    panel: [(&'static str, &'static str, &'static str); 3],
    summary: &'static str,
) -> Result<(), Failure> {
    for (reviewer, model, path) in panel {
        let verdict = ReviewVerdict {
            reviewer,
            model,
            status: "approved",
            summary,
        };
        demo_run.leaves(&[(path, &verdict.text())], reviewer)?;
    }
    Ok(())
}

fn verified(
    demo_run: &mut DemoRun<'_>,
    run: &RunId,
    narrator: &mut Narrator<'_>,
) -> Result<bool, Failure> {
    let findings = verification::verify(&mut demo_run.workspace, &[run.to_string()])?;
    let (text, intact) = (findings.text(Paint::Plain), findings.is_intact());
    let style = if intact { Style::Good } else { Style::Bad };
    narrator.act("verify", style, text.trim_end())?;
    Ok(intact)
}

/// Tells the play as text, line by line, or at its end as JSON.
struct Narrator<'a> {
    output: &'a mut Output,
    acts: Vec<Act>,
}

impl<'a> Narrator<'a> {
    fn new(output: &'a mut Output) -> Self {
        Self {
            output,
            acts: Vec::new(),
        }
    }

    fn begin(&mut self) -> Result<(), Failure> {
        self.text(OPENING)?;
        self.text("\n")
    }

    fn act(&mut self, word: &'static str, style: Style, text: &str) -> Result<(), Failure> {
        let paint = self.output.paint();
        let text = views::line(text);
        let mut lines = wrapped(&text, COLUMNS).into_iter();
        let first = lines.next().unwrap_or_default();
        self.text(&format!(
            "{}  {first}\n",
            paint.on(style, &format!("{word:<7}"))
        ))?;
        for line in lines {
            self.text(&format!("         {line}\n"))?;
        }
        self.acts.push(Act { word, text });
        Ok(())
    }

    fn text(&mut self, text: &str) -> Result<(), Failure> {
        match self.output.format() {
            Format::Text => self.output.text(text),
            Format::Json => Ok(()),
        }
    }

    fn end(&mut self, run: &RunId, intact: bool) -> Result<(), Failure> {
        self.text("\n")?;
        self.text(CLOSING)?;
        match self.output.format() {
            Format::Json => self.output.json(&json(&self.acts, run, intact)),
            Format::Text => Ok(()),
        }
    }
}

/// How wide a line of the play is, beside its first word.
const COLUMNS: usize = 90;

/// Breaks a text between its words.
fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= columns => {
                line.push(' ');
                line.push_str(word);
            }
            Some(_) | None => lines.push(word.to_owned()),
        }
    }
    lines
}

fn json(acts: &[Act], run: &RunId, intact: bool) -> Value {
    let acts: Vec<Value> = acts
        .iter()
        .map(|act| json!({ "what": act.word, "text": act.text }))
        .collect();
    json!({ "pipeline": "multi-ai", "run": run.as_str(), "acts": acts, "intact": intact })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_broken_between_words() {
        assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
        assert_eq!(
            wrapped("incomprehensibilities", 7),
            ["incomprehensibilities"]
        );
    }
}
