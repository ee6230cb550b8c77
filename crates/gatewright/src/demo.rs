//! The demo: the built-in pipeline `multi-ai`, played through the same way as every command.
//!
//! The demo writes what agents would leave behind and answers what a person would be asked. All else
//! is real: artifacts are read and checked, the engine decides, the test is run, the journal is kept.

mod papers;
mod scene;

use engine::RunId;
use runtime::context::Context;
use runtime::failure::Failure;
use runtime::workspace::Workspace;
use serde_json::{Value, json};
use tempfile::TempDir;
use views::{Paint, Style};

use self::papers::Verdict;
use self::scene::Scene;
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
pub struct Play {
    folder: TempDir,
    context: Context,
}

/// One line of the play.
pub struct Act {
    word: &'static str,
    text: String,
}

impl Play {
    pub fn new(context: &Context) -> Result<Self, Failure> {
        let folder = tempfile::Builder::new()
            .prefix("gatewright-demo-")
            .tempdir();
        let folder = folder.map_err(|cause| {
            Failure::outside(format!("cannot make a temporary folder ({cause})"))
                .hint("set TMPDIR to a writable folder")
        })?;
        let (project, state) = (folder.path().join("project"), folder.path().join("state"));
        std::fs::create_dir(&project).map_err(Failure::file("make", &project))?;
        let context = context.elsewhere(project, state);
        Ok(Self { folder, context })
    }

    /// Plays it, a line at a time.
    pub fn perform(self, output: &mut Output) -> Result<Exit, Failure> {
        let workspace = Workspace::for_writing(&self.context)?;
        let mut teller = Teller::new(output);
        teller.begin()?;
        let mut scene = Scene::open(workspace, &self.context)?;
        let run = story(&mut scene, &mut teller)?;
        let intact = verified(&scene, &run, &mut teller)?;
        drop(scene);
        let folder = self.folder.path().to_owned();
        self.folder
            .close()
            .map_err(Failure::file("remove", &folder))?;
        teller.end(&run, intact)?;
        Ok(if intact { Exit::Success } else { Exit::No })
    }
}

/// What happens, in its order. Each step insists on the answer that it expects.
fn story(scene: &mut Scene<'_>, teller: &mut Teller<'_>) -> Result<RunId, Failure> {
    teller.act(
        "start",
        Style::Strong,
        "multi-ai, for the task \"greet people by name\"",
    )?;
    requirements(scene, teller)?;
    plan(scene, teller)?;
    code(scene, teller)?;
    scene.ended()
}

fn requirements(scene: &mut Scene<'_>, teller: &mut Teller<'_>) -> Result<(), Failure> {
    scene.write("greet.sh", papers::GREETING_WRONG)?;
    let refused = scene.refused("implementer")?;
    teller.act(
        "REFUSED",
        Style::Bad,
        &format!("'implementer' starts to code. {refused}"),
    )?;

    scene.leaves(&[papers::SIGNAL_QUESTION], "requirements-gatherer")?;
    let question = scene.question()?;
    scene.answers(&[("language", "English")])?;
    teller.act(
        "answer",
        Style::Wait,
        &format!("the requirements-gatherer asks: {question} English"),
    )?;

    scene.leaves(
        &[papers::SIGNAL_GATHERED, papers::STORY],
        "requirements-gatherer",
    )?;
    let question = scene.asked()?;
    scene.chooses("approve")?;
    teller.act(
        "answer",
        Style::Wait,
        &format!("{question}: you answer approve"),
    )
}

fn plan(scene: &mut Scene<'_>, teller: &mut Teller<'_>) -> Result<(), Failure> {
    scene.leaves(&[papers::SIGNAL_DRAFTED, papers::PLAN], "planner")?;
    scene.leaves(&[papers::SIGNAL_REFINED, papers::PLAN_REFINED], "planner")?;
    teller.act(
        "left",
        Style::Normal,
        "the planner writes a draft, then the plan: both match their schema",
    )?;

    let looks_good = Verdict {
        reviewer: "plan-reviewer",
        model: "sonnet",
        status: "LGTM",
        summary: "looks good to me",
    };
    scene.write(papers::PLAN_SONNET, &looks_good.text())?;
    let refused = scene.refused("plan-reviewer")?;
    teller.act(
        "REFUSED",
        Style::Bad,
        &format!("a reviewer writes \"LGTM\". {refused}"),
    )?;

    let panel = [
        ("plan-reviewer", "sonnet", papers::PLAN_SONNET),
        ("plan-reviewer", "opus", papers::PLAN_OPUS),
        ("review-codex", "codex", papers::PLAN_CODEX),
    ];
    approve(scene, panel, "nothing to add")?;
    teller.act(
        "review",
        Style::Good,
        "three reviewers approve the plan, all on the same bytes",
    )
}

fn code(scene: &mut Scene<'_>, teller: &mut Teller<'_>) -> Result<(), Failure> {
    scene.write("tests/greeting.sh", papers::TEST)?;
    scene.leaves(&[papers::RESULT], "implementer")?;
    teller.act(
        "left",
        Style::Normal,
        "the implementer writes greet.sh and says that all tests pass",
    )?;
    review(scene, "nothing to add")?;
    teller.act("review", Style::Good, "three reviewers approve the code")?;
    let failed = scene.checks()?;
    teller.act(
        "FAILED",
        Style::Bad,
        &format!("gatewright runs the test that you approved: {failed}"),
    )?;

    scene.write("greet.sh", papers::GREETING_RIGHT)?;
    scene.leaves(&[papers::RESULT_AGAIN], "implementer")?;
    teller.act(
        "left",
        Style::Normal,
        "the implementer fixes greet.sh: the old approvals no longer count",
    )?;
    review(scene, "now it greets by name")?;
    teller.act(
        "review",
        Style::Good,
        "three reviewers approve the new code",
    )?;
    let passed = scene.checks()?;
    teller.act(
        "passed",
        Style::Good,
        &format!("gatewright runs the test: {passed}"),
    )?;
    teller.act("done", Style::Strong, "the run is completed")
}

fn review(scene: &mut Scene<'_>, summary: &'static str) -> Result<(), Failure> {
    let panel = [
        ("code-reviewer", "sonnet", papers::CODE_SONNET),
        ("code-reviewer", "opus", papers::CODE_OPUS),
        ("review-codex", "codex", papers::CODE_CODEX),
    ];
    approve(scene, panel, summary)
}

/// Every reviewer of the panel, with its model and its file, approves.
fn approve(
    scene: &mut Scene<'_>,
    panel: [(&'static str, &'static str, &'static str); 3],
    summary: &'static str,
) -> Result<(), Failure> {
    for (reviewer, model, path) in panel {
        let verdict = Verdict {
            reviewer,
            model,
            status: "approved",
            summary,
        };
        scene.leaves(&[(path, &verdict.text())], reviewer)?;
    }
    Ok(())
}

fn verified(scene: &Scene<'_>, run: &RunId, teller: &mut Teller<'_>) -> Result<bool, Failure> {
    let findings = verification::verify(&scene.workspace, &[run.to_string()])?;
    let (text, intact) = (findings.text(Paint::Plain), findings.is_intact());
    let style = if intact { Style::Good } else { Style::Bad };
    teller.act("verify", style, text.trim_end())?;
    Ok(intact)
}

/// Tells the play as text, line by line, or at its end as JSON.
struct Teller<'a> {
    output: &'a mut Output,
    acts: Vec<Act>,
}

impl<'a> Teller<'a> {
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
