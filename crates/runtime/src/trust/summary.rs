//! What a person sees before trusting: everything that the definition may run, and what has
//! changed.

use std::fmt::Write as _;

use engine::{Begins, Commands, Definition, Deliver, FieldOf, Stage, Work, WorkerSettings};
use serde_json::{Value, json};
use views::{Paint, Style};

use super::record::{self, TrustRecord};
use super::scripts::PinnedFile;
use super::{Subject, changed, diff};

/// How many digits of a hash people need to compare.
const SHORT: usize = 16;

/// A definition with everything that a person needs to know before trusting it.
pub struct TrustSummary<'a> {
    pub subject: &'a Subject,
    pub definition: &'a Definition,
    /// The earlier trust in the same path, if any.
    pub earlier: Option<&'a TrustRecord>,
}

/// Something that a stage runs.
struct Runs<'a> {
    stage: &'a str,
    words: Vec<String>,
}

impl TrustSummary<'_> {
    pub fn text(&self, paint: Paint) -> String {
        let mut text = String::new();
        let name = paint.on(Style::Strong, self.definition.name.as_str());
        let path = views::line(&self.subject.path.to_string_lossy());
        let _ = writeln!(text, "{name}  {path}\nhash  {}", self.subject.hash());
        let begins = match self.definition.begins {
            Begins::Session => "It starts by itself in every session of a project that has it.",
            Begins::Command => "It starts only when somebody starts it.",
        };
        let _ = writeln!(text, "{begins}");
        section(&mut text, paint, "It may run, as you", &self.commands());
        section(&mut text, paint, "It has agents work with", &self.workers());
        self.write_groups(&mut text, paint);
        self.write_files(&mut text, paint);
        self.write_gives(&mut text, paint);
        self.write_additions(&mut text, paint);
        self.write_changes(&mut text, paint);
        text
    }

    /// Command lines word by word, as the system will get them.
    fn commands(&self) -> Vec<Runs<'_>> {
        let stages = self.definition.stages.iter();
        let lists = stages.flat_map(|stage| match &stage.work {
            Work::Check(check) => lines(&check.commands)
                .into_iter()
                .map(|words| Runs {
                    stage: stage.name.as_str(),
                    words,
                })
                .collect(),
            Work::Agent(_)
            | Work::Open(_)
            | Work::Ask(_)
            | Work::Review(_)
            | Work::Steps(_)
            | Work::Route(_)
            | Work::End(_) => Vec::new(),
        });
        lists.chain(self.outward()).collect()
    }

    /// What a delivery starts, which reaches out.
    fn outward(&self) -> Vec<Runs<'_>> {
        let Some(delivery) = &self.definition.placement.delivery else {
            return Vec::new();
        };
        let stage = "delivery";
        let is_request = delivery.deliver == Deliver::PullRequest;
        let remote = delivery
            .remote
            .as_deref()
            .or(is_request.then_some("origin"));
        let push = remote.map(|remote| ["git", "push", remote].map(str::to_owned).to_vec());
        let request = match delivery.request.as_slice() {
            [] => vec![String::from("gh")],
            words => words.to_vec(),
        };
        let request = is_request.then_some(request);
        let commands = push.into_iter().chain(request);
        commands.map(|words| Runs { stage, words }).collect()
    }

    fn workers(&self) -> Vec<Runs<'_>> {
        let stages = self.definition.stages.iter();
        stages.flat_map(of_stage).collect()
    }

    fn write_files(&self, text: &mut String, paint: Paint) {
        let _ = writeln!(text, "\n{}", paint.on(Style::Strong, "Its files"));
        let pieces = record::pieces(self.subject);
        let width = pieces
            .iter()
            .map(|piece| views::line(&piece.path).chars().count())
            .max();
        let width = width.unwrap_or(0);
        for PinnedFile { path, bytes, hash } in &pieces {
            let (path, hash) = (views::line(path), hash.to_string());
            let _ = writeln!(
                text,
                "  {path:<width$}  {bytes:>7} bytes  {}",
                &hash[..SHORT]
            );
        }
    }

    /// The members of its groups, if the project's settings add any.
    fn write_groups(&self, text: &mut String, paint: Paint) {
        if self.subject.files.get(language::ADDED_MEMBERS).is_none() {
            return;
        }
        let title = "Its groups, with what the settings add";
        let _ = writeln!(text, "\n{}", paint.on(Style::Strong, title));
        for (group, members) in &self.definition.groups {
            let members = members.iter().map(|member| views::line(member.as_str()));
            let members = members.collect::<Vec<_>>().join(", ");
            let _ = writeln!(text, "  {group}: {members}");
        }
    }

    fn write_gives(&self, text: &mut String, paint: Paint) {
        let gives = self.definition.gives.iter().map(|path| views::line(path));
        let commands = self
            .definition
            .commands
            .keys()
            .map(|name| format!("/{name}"));
        let all: Vec<String> = gives.chain(commands).collect();
        if !all.is_empty() {
            let title = paint.on(Style::Strong, "It gives to the session");
            let _ = writeln!(text, "\n{title}\n  {}", all.join("\n  "));
        }
    }

    /// What it adds to the person's own files.
    fn write_additions(&self, text: &mut String, paint: Paint) {
        let ignores = self.definition.ignores.iter();
        let ignores = ignores.map(|line| format!(".gitignore: {}", views::line(line)));
        let protocol = self.definition.protocol.iter();
        let protocol = protocol.map(|path| format!("CLAUDE.md: {}", views::line(path)));
        let litter = self.definition.litter.iter();
        let litter = litter.map(|glob| format!("not checked: {}", views::line(glob.as_str())));
        let all: Vec<String> = ignores.chain(protocol).chain(litter).collect();
        if !all.is_empty() {
            let title = paint.on(Style::Strong, "It adds to your files");
            let _ = writeln!(text, "\n{title}\n  {}", all.join("\n  "));
        }
    }

    fn write_changes(&self, text: &mut String, paint: Paint) {
        let Some(earlier) = self.earlier else {
            return;
        };
        let changes = changed(earlier, self.subject);
        if changes.is_empty() {
            return;
        }
        let when = views::time::rfc3339(earlier.at);
        let title = format!("Since {when}, when {} trusted it", views::line(&earlier.by));
        let _ = writeln!(text, "\n{}", paint.on(Style::Strong, &title));
        for change in changes {
            let _ = writeln!(text, "  {}", paint.on(Style::Wait, &change));
        }
        text.push_str(&self.diffs(earlier, paint));
    }

    fn diffs(&self, earlier: &TrustRecord, paint: Paint) -> String {
        let mut text = String::new();
        for (path, bytes) in self.subject.files.iter() {
            let (Some(before), Ok(after)) = (earlier.texts.get(path), std::str::from_utf8(bytes))
            else {
                continue;
            };
            let changes = diff::unified(before, after);
            if !changes.is_empty() {
                let path = views::line(path);
                let _ = writeln!(text, "\n--- {path}, as it was\n+++ {path}, as it is");
                let _ = write!(text, "{}", coloured(&views::safe(&changes), paint));
            }
        }
        text
    }

    pub fn json(&self) -> Value {
        let runs = |runs: Vec<Runs<'_>>| -> Value {
            let runs = runs.into_iter();
            runs.map(|Runs { stage, words }| json!({ "stage": stage, "words": words }))
                .collect()
        };
        let names = self.definition.commands.keys().map(ToString::to_string);
        let changes = self.earlier.map(|earlier| changed(earlier, self.subject));
        json!({
            "pipeline": self.definition.name.as_str(),
            "path": self.subject.path.to_string_lossy(),
            "hash": self.subject.hash().to_string(),
            "begins": match self.definition.begins {
                Begins::Session => "session",
                Begins::Command => "command",
            },
            "commands": runs(self.commands()),
            "workers": runs(self.workers()),
            "files": record::pieces(self.subject),
            "gives": self.definition.gives,
            "ignores": self.definition.ignores,
            "litter": self.definition.litter.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "protocol": self.definition.protocol,
            "slash_commands": names.collect::<Vec<_>>(),
            "changed": changes,
        })
    }
}

/// The commands of a check; commands from an artifact are described by its name.
fn lines(commands: &Commands) -> Vec<Vec<String>> {
    match commands {
        Commands::Fixed(lines) => lines.clone(),
        Commands::Approved(fields) => {
            let described = |field: &FieldOf| {
                let FieldOf { artifact, field } = field;
                vec![format!(
                    "the commands that a person approves in {field} of {artifact}"
                )]
            };
            fields.iter().map(described).collect()
        }
    }
}

fn of_stage(stage: &Stage) -> Vec<Runs<'_>> {
    let mut workers: Vec<(&str, &WorkerSettings)> = Vec::new();
    match &stage.work {
        Work::Agent(work) => workers.push(("", &work.settings)),
        Work::Steps(work) => workers.push(("", &work.settings)),
        Work::Review(work) => {
            workers.push((work.owner.as_str(), &work.owner_settings));
            let panel = work.panel.iter();
            workers.extend(panel.map(|reviewer| (reviewer.agent.as_str(), &reviewer.settings)));
        }
        Work::Open(_) | Work::Check(_) | Work::Ask(_) | Work::Route(_) | Work::End(_) => {}
    }
    let described = workers.into_iter().filter_map(|(agent, settings)| {
        let words = settings_words(agent, settings)?;
        let stage = stage.name.as_str();
        Some(Runs { stage, words })
    });
    described.collect()
}

/// A worker of the host without a prompt of the definition runs nothing new.
fn settings_words(agent: &str, settings: &WorkerSettings) -> Option<Vec<String>> {
    let runner = settings
        .runner
        .as_ref()
        .map(|runner| format!("runner {runner}"));
    let model = settings
        .model
        .as_ref()
        .map(|model| format!("model {model}"));
    let prompt = settings
        .prompt
        .as_ref()
        .map(|prompt| format!("prompt {prompt}"));
    let fallbacks = settings.fallbacks.iter().map(|fallback| {
        let runner = fallback.runner.as_ref().map(ToString::to_string);
        let named: Vec<String> = runner.into_iter().chain(fallback.model.clone()).collect();
        format!("otherwise {}", named.join(" "))
    });
    let words = runner
        .into_iter()
        .chain(model)
        .chain(prompt)
        .chain(fallbacks);
    let words: Vec<String> = words.collect();
    let agent = (!agent.is_empty()).then(|| agent.to_owned());
    (!words.is_empty()).then(|| agent.into_iter().chain(words).collect())
}

fn section(text: &mut String, paint: Paint, title: &str, runs: &[Runs<'_>]) {
    if runs.is_empty() {
        return;
    }
    let _ = writeln!(text, "\n{}", paint.on(Style::Strong, title));
    let width = runs.iter().map(|run| run.stage.len()).max().unwrap_or(0);
    for Runs { stage, words } in runs {
        let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
        let _ = writeln!(text, "  {stage:<width$}  {}", words.join(" "));
    }
}

/// Quotes a word with blanks.
fn quoted(word: &str) -> String {
    let word = views::line(word);
    if word.is_empty() || word.contains(char::is_whitespace) {
        format!("\"{word}\"")
    } else {
        word
    }
}

fn coloured(changes: &str, paint: Paint) -> String {
    let lines = changes.lines().map(|line| {
        let style = match line.as_bytes().first() {
            Some(b'+') => Style::Good,
            Some(b'-') => Style::Bad,
            Some(b'@') => Style::Dim,
            _ => Style::Normal,
        };
        format!("{}\n", paint.on(style, line))
    });
    lines.collect()
}
