//! A whole run as one Markdown page: the task, the route, and the evidence.

use engine::{CheckVerdict, Entry, Fact, Pipeline, Run};

use crate::fact::{AgentNames, check_line, sentence};
use crate::markdown::{escaped, fenced, quoted};
use crate::safe::{Untrusted, line};
use crate::status::{
    BypassLine, OverrideLine, RunContext, StatusView, UnguardedLine, status, status_words,
    unjudged_words,
};
use crate::time::rfc3339;

/// What `verify` said about the journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verification<'a> {
    NotRun,
    Result(&'a str),
}

/// The page that `export --format md` writes.
pub fn summary(
    pipeline: &Pipeline,
    run: &Run,
    entries: &[(u64, &Entry)],
    context: RunContext<'_>,
    verification: Verification<'_>,
) -> String {
    let view = status(pipeline, run, context);
    let journal = JournalSections {
        names: AgentNames::of(entries.iter().map(|(_, entry)| *entry)),
        entries,
    };
    let sections = [
        heading(&view),
        warnings(&view),
        section("Task", vec![quoted(&run.task)]),
        section("Route", journal.way()),
        section("Checks", journal.checks()),
        section("Reviews", journal.reviews()),
        section("Answers", journal.answers()),
        section("Refused", journal.refusals()),
        section("Not judged", journal.unjudged()),
        section("Not guarded", journal.unguarded()),
        section("Outside the workers' folders", journal.outside()),
        section("Artifacts", left(&view)),
        section("Verification", vec![verified(run, verification)]),
    ];
    sections
        .into_iter()
        .filter(|section| !section.is_empty())
        .collect::<Vec<_>>()
        .join("\n")
}

fn section(title: &str, lines: Vec<String>) -> String {
    if lines.is_empty() {
        String::new()
    } else {
        format!("## {title}\n\n{}\n", lines.join("\n"))
    }
}

fn heading(view: &StatusView) -> String {
    let (_, status) = status_words(&view.status);
    let rows = [
        ("status", status),
        ("stage", view.stage.name.to_string()),
        ("project", view.project.line()),
        ("driver", view.driver_text().to_owned()),
        ("mode", mode(view).to_owned()),
        ("definition", view.definition.to_string()),
        ("started", rfc3339(view.started_at)),
        ("updated", rfc3339(view.touched_at)),
    ];
    let session = view.session.iter().map(|line| ("session", line.text()));
    let params = view
        .params
        .iter()
        .map(|(name, value)| (name.as_str(), value.line()));
    let rows = rows
        .into_iter()
        .chain(session)
        .chain(params)
        .map(|(name, value)| format!("| {} | {} |\n", escaped(name), escaped(&value)));
    let title = format!(
        "# Run {} of {}\n\n",
        escaped(view.run.as_str()),
        escaped(view.pipeline.as_str())
    );
    format!("{title}| | |\n| --- | --- |\n{}", rows.collect::<String>())
}

fn mode(view: &StatusView) -> &'static str {
    match view.mode {
        engine::Mode::Enforced => "enforced",
        engine::Mode::Advisory => "advisory, not enforced",
    }
}

/// Comes first, so that a person who reads only the top of the page sees it.
pub(crate) fn warnings(view: &StatusView) -> String {
    let overrides = view.overrides.iter().map(OverrideLine::text);
    let bypass = view.bypass.iter().map(BypassLine::text);
    let unjudged = (view.unjudged > 0).then(|| unjudged_words(view.unjudged));
    let unguarded = view.unguarded.iter().map(UnguardedLine::text);
    let lines = overrides.chain(bypass).chain(unjudged).chain(unguarded);
    let lines: Vec<_> = lines
        .map(|text| format!("**{}**\n", escaped(&text)))
        .collect();
    lines.join("\n")
}

fn left(view: &StatusView) -> Vec<String> {
    let line = |artifact: &crate::status::ArtifactLine| {
        format!(
            "- {} `{}`",
            escaped(artifact.name.as_str()),
            artifact.content
        )
    };
    view.artifacts.iter().map(line).collect()
}

fn verified(run: &Run, verification: Verification<'_>) -> String {
    match verification {
        Verification::Result(text) => escaped(&line(text)),
        Verification::NotRun => format!("Not verified here. Run `gatewright verify {}`.", run.id),
    }
}

struct JournalSections<'a> {
    names: AgentNames,
    entries: &'a [(u64, &'a Entry)],
}

impl JournalSections<'_> {
    /// Every move, and what people did to the run itself.
    fn way(&self) -> Vec<String> {
        self.items(|fact| {
            matches!(
                fact,
                Fact::Started(_)
                    | Fact::Forked { .. }
                    | Fact::TaskGiven { .. }
                    | Fact::TaskBegan { .. }
                    | Fact::Moved(_)
                    | Fact::Routed(_)
                    | Fact::Overridden { .. }
                    | Fact::Stuck { .. }
                    | Fact::Bypassed { .. }
                    | Fact::Continued { .. }
                    | Fact::Cancelled { .. }
                    | Fact::Reset { .. }
                    | Fact::Restored { .. }
                    | Fact::Adopted { .. }
            )
        })
    }

    fn reviews(&self) -> Vec<String> {
        self.items(|fact| {
            matches!(
                fact,
                Fact::RoundStarted { .. }
                    | Fact::ReviewerApproved { .. }
                    | Fact::ReviewerFound { .. }
                    | Fact::Fixed { .. }
                    | Fact::RoundsSpent { .. }
            )
        })
    }

    fn refusals(&self) -> Vec<String> {
        self.items(|fact| matches!(fact, Fact::Refused { .. }))
    }

    fn unjudged(&self) -> Vec<String> {
        self.items(|fact| matches!(fact, Fact::Unevaluated { .. }))
    }

    fn unguarded(&self) -> Vec<String> {
        self.items(|fact| matches!(fact, Fact::Unguarded(_) | Fact::AcceptedUnguarded { .. }))
    }

    fn outside(&self) -> Vec<String> {
        self.items(|fact| matches!(fact, Fact::ChangedOutside(_)))
    }

    fn answers(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for (number, entry) in self.entries {
            if let Fact::Answered { given, .. } = &entry.fact {
                lines.push(self.item(*number, entry));
                let answer = |(question, answer): (&String, &String)| {
                    format!(
                        "  - {}: {}",
                        escaped(&line(question)),
                        escaped(&line(answer))
                    )
                };
                lines.extend(given.iter().map(answer));
            }
        }
        lines
    }

    /// Each check with its commands, and the last output of a failing one.
    fn checks(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for (number, entry) in self.entries {
            let Fact::Checked {
                verdict, results, ..
            } = &entry.fact
            else {
                continue;
            };
            lines.push(self.item(*number, entry));
            for result in results {
                lines.push(format!("  - {}", escaped(&check_line(result).line())));
                if *verdict != CheckVerdict::Passed && !result.tail.trim().is_empty() {
                    lines.push(fenced(&Untrusted::new(&result.tail).block(), 4));
                }
            }
        }
        lines
    }

    fn items(&self, wanted: impl Fn(&Fact) -> bool) -> Vec<String> {
        let entries = self.entries.iter().filter(|(_, entry)| wanted(&entry.fact));
        entries
            .map(|(number, entry)| self.item(*number, entry))
            .collect()
    }

    fn item(&self, number: u64, entry: &Entry) -> String {
        let what = escaped(&sentence(entry, &self.names).line());
        let (by, at) = (escaped(&line(&entry.by.name())), rfc3339(entry.at));
        format!("- {what} — {by}, {at}, entry {number}")
    }
}
