//! The prompt for the session that works on a run: the run's state and what to do next.

use engine::{
    Act, AgentName, AgentPattern, Conversation, Graph, Member, MemberState, Next, NextDuty,
    Outcome, Pipeline, Questions, Run, Source, Stage, Status, StepId, ViewFormat, Work, WorkerId,
    WorkerSettings,
};

use crate::cause::{self, Reader};
use crate::duty::{duty_words, worker_settings};
use crate::layout::cut;
use crate::placeholder::filled;
use crate::requirement::requirements;
use crate::safe::line;
use crate::words;

/// A session reads this at its start and after each compaction, so it is short.
const MOST_LINES: usize = 16;
const TASK_COLUMNS: usize = 160;
const CAUSE_COLUMNS: usize = 300;
/// The output of commands and the words of people, where the session must know them.
const CAUSE_CHARACTERS: usize = 2_500;
/// Titles are written by agents.
const TITLE_COLUMNS: usize = 100;
/// A host cannot offer a person more or fewer options.
const OPTIONS: std::ops::RangeInclusive<usize> = 2..=4;

/// At most sixteen lines, followed by what led to work or a question of the session's own, and by the
/// steps of a task graph.
pub fn session_prompt(pipeline: &Pipeline, run: &Run) -> String {
    let prompt = SessionPrompt { pipeline, run };
    let mut lines = prompt.head();
    lines.extend(prompt.next());
    if lines.len() > MOST_LINES {
        lines.truncate(MOST_LINES - 1);
        lines.push(format!("- … `gatewright next {}` shows the rest", run.id));
    }
    lines.extend(prompt.causes());
    lines.extend(prompt.mirror());
    lines.join("\n")
}

/// How a session starts or continues an agent.
pub(crate) fn agent_call(
    pipeline: &Pipeline,
    run: &Run,
    agent: &AgentName,
    duty: &NextDuty,
) -> String {
    SessionPrompt { pipeline, run }.agent(agent, duty)
}

/// The file that tells how the run ended, if it has ended and its pipeline has such a view.
pub fn report_path(pipeline: &Pipeline, run: &Run) -> Option<String> {
    let mut views = pipeline.definition().views.iter();
    let view = views.find(|view| view.format == ViewFormat::Report)?;
    let is_over = engine::is_over(pipeline, run);
    is_over.then(|| line(&filled(run, &view.path, None)))
}

struct SessionPrompt<'a> {
    pipeline: &'a Pipeline,
    run: &'a Run,
}

impl SessionPrompt<'_> {
    fn head(&self) -> Vec<String> {
        let status = engine::status(self.pipeline, self.run);
        let status = if let Status::Waiting(reason) = &status {
            format!("waiting: {}", line(reason))
        } else {
            status.word().to_owned()
        };
        let (run, stage) = (&self.run.id, &self.run.position.stage);
        let name = &self.pipeline.definition().name;
        let here = self.pipeline.stage(stage);
        let goes_on = here.is_some_and(|stage| !stage.after().is_empty());
        if engine::is_over(self.pipeline, self.run) && !goes_on {
            let over = format!(
                "Run {run} of `{name}` is over ({status}). Gatewright no longer guards this session."
            );
            return [over].into_iter().chain(self.report()).collect();
        }
        vec![
            format!(
                "Gatewright guards this session: run {run} of `{name}` is in stage `{stage}` \
                 ({status})."
            ),
            format!("The task: {}", cut(&line(&self.run.task), TASK_COLUMNS)),
        ]
        .into_iter()
        .chain(self.causes_in_short())
        .chain(["What comes next:".to_owned()])
        .collect()
    }

    /// Where workers do the work, their briefings have the whole.
    fn causes_in_short(&self) -> Vec<String> {
        if self.is_own_business() {
            return Vec::new();
        }
        let short = cause::in_short(self.pipeline, self.run, CAUSE_COLUMNS);
        let title = (!short.is_empty()).then(|| "What led here:".to_owned());
        title.into_iter().chain(short).collect()
    }

    /// What led to work or a question that is the session's own business.
    fn causes(&self) -> Option<String> {
        let led_here =
            || cause::led_here(self.pipeline, self.run, Reader::Anybody, CAUSE_CHARACTERS);
        self.is_own_business()
            .then(led_here)
            .filter(|text| !text.is_empty())
    }

    /// Does the session itself work here, or ask the person?
    fn is_own_business(&self) -> bool {
        let legal = engine::next(self.pipeline, self.run);
        legal.iter().any(|next| match next {
            Next::Session { .. } | Next::Answer { .. } | Next::Answers { .. } => true,
            Next::Decide { .. } => true,
            Next::Agent { .. }
            | Next::AnyOf { .. }
            | Next::Under { .. }
            | Next::Check { .. }
            | Next::Plan { .. }
            | Next::Route { .. }
            | Next::Finish
            | Next::TakeUp
            | Next::Nothing => false,
        })
    }

    /// What a session tells its person when the run is over: only what Gatewright saw itself.
    fn report(&self) -> Vec<String> {
        let run = self.run;
        let listed = |title: &str, names: Vec<&str>| {
            (!names.is_empty()).then(|| format!("- {title}: {}", names.join(", ")))
        };
        let gates = run.gates.keys().map(engine::StageName::as_str).collect();
        let approved = run.approved.keys().map(engine::ArtifactName::as_str);
        let skipped = run.overrides.iter().map(|it| it.stage.as_str()).collect();
        let used = words::usage(&run.used);
        let used = (!used.is_empty()).then(|| format!("- used: {used}"));
        let facts = [
            listed("checked and passed", gates),
            listed("approved by a person", approved.collect()),
            listed("SKIPPED by a person", skipped),
            used,
        ];
        let report = report_path(self.pipeline, run);
        let report = report.map(|path| format!("- the whole report is in {path}"));
        let ending = format!(
            "Tell the person how the run ended, with these facts and what led here. `gatewright status \
             {0}` shows the rest, `gatewright history {0}` every step.",
            run.id
        );
        let causes = cause::in_short(self.pipeline, run, CAUSE_COLUMNS);
        let causes = causes.into_iter();
        causes
            .chain(facts.into_iter().flatten())
            .chain(report)
            .chain([ending])
            .collect()
    }

    fn next(&self) -> Vec<String> {
        let legal = engine::next(self.pipeline, self.run);
        legal.iter().flat_map(|next| self.way(next)).collect()
    }

    fn way(&self, next: &Next) -> Vec<String> {
        let run = &self.run.id;
        let told = match next {
            Next::Agent { agent, duty, .. } => self.agent(agent, duty),
            Next::Session { .. } => return self.session(),
            Next::AnyOf { agents } => self.any_of(agents),
            Next::Under { agent, step } => waiting_for(agent, step.as_ref()),
            Next::Check { stage } => {
                format!("run `gatewright check {run}`: it runs the commands of {stage}")
            }
            Next::Plan { stage } => {
                format!("run `gatewright next {run}`: it plans the steps of {stage}")
            }
            Next::Route { stage } => {
                format!("run `gatewright next {run}`: it decides the route {stage}")
            }
            Next::Answer { question, choices } => self.question(question, choices),
            Next::Answers { .. } => self.questions(),
            Next::Finish => self.finish(),
            // Why stands in the first line; the question names ways on that are not the agent's to take.
            Next::Decide { .. } => format!(
                "a person must decide: tell them that `gatewright next {run}` shows the choices, \
                 then end your turn"
            ),
            Next::TakeUp => "the run is queued: end your turn".to_owned(),
            Next::Nothing => "the run is over: there is nothing to do".to_owned(),
        };
        vec![format!("- {told}")]
    }

    fn stage(&self) -> Option<&Stage> {
        self.pipeline.stage(&self.run.position.stage)
    }

    fn agent(&self, agent: &AgentName, duty: &NextDuty) -> String {
        let settings = self.stage().and_then(|stage| worker_settings(stage, duty));
        let runner = settings.and_then(|settings| settings.runner.as_ref());
        if !self.run.session_starts(runner) {
            let (run, does) = (&self.run.id, line(&duty_words(duty)));
            return format!("run `gatewright step {run}`: it starts '{agent}', which {does}");
        }
        let model = settings.and_then(|settings| settings.model.as_ref());
        let model = model.map(|model| format!(" and model \"{}\"", line(model)));
        let model = model.unwrap_or_default();
        let call = format!("call the Agent tool with subagent_type \"{agent}\"{model}");
        let told = match duty {
            NextDuty::Work => String::new(),
            NextDuty::Review { .. } | NextDuty::Fix { .. } => format!(": it {}", duty_words(duty)),
            NextDuty::Step { step, title } => {
                let title = cut(&line(title), TITLE_COLUMNS);
                format!(
                    " for step {step} ({title}); the first line of its prompt is `step: {step}`"
                )
            }
        };
        match self.known(agent, duty, settings) {
            Some(worker) => {
                let resume = format!("use SendMessage to {worker} to continue '{agent}'");
                format!("{resume}{told}; if that worker is gone, {call}")
            }
            None => format!("{call}{told}"),
        }
    }

    /// The worker whose conversation continues, if the run remembers one.
    fn known(
        &self,
        agent: &AgentName,
        duty: &NextDuty,
        settings: Option<&WorkerSettings>,
    ) -> Option<&WorkerId> {
        let same = settings.is_some_and(|settings| settings.conversation == Conversation::Same);
        let goes_on = match duty {
            NextDuty::Fix { .. } => true,
            NextDuty::Work => same,
            // The run cannot tell two reviewers with one name apart, nor the workers of steps.
            NextDuty::Review { .. } => same && self.reviews_once(agent),
            NextDuty::Step { .. } => false,
        };
        let known = self.run.workers.iter();
        let known = known.filter(|(_, known)| known.agent.is_same(agent.as_str()));
        let latest = known.max_by_key(|(_, known)| known.dispatch);
        latest.filter(|_| goes_on).map(|(worker, _)| worker)
    }

    fn reviews_once(&self, agent: &AgentName) -> bool {
        let panel = match self.stage().map(|stage| &stage.work) {
            Some(Work::Review(work)) => work.panel.as_slice(),
            _ => &[],
        };
        panel.iter().filter(|member| member.agent == *agent).count() == 1
    }

    fn session(&self) -> Vec<String> {
        let Some(Work::Agent(work)) = self.stage().map(|stage| &stage.work) else {
            return Vec::new();
        };
        let requirements = requirements(
            self.pipeline.definition(),
            self.run,
            &work.leaves,
            None,
            engine::SESSION,
        );
        let first = if requirements.is_empty() {
            "- do the work of this stage yourself, then end your turn".to_owned()
        } else {
            "- do the work of this stage yourself; produce these artifacts before you end your turn:"
                .to_owned()
        };
        let requirements = requirements
            .into_iter()
            .map(|demand| format!("  - {demand}"));
        [first].into_iter().chain(requirements).collect()
    }

    /// A session does not know groups, so it gets their members.
    fn any_of(&self, agents: &[AgentPattern]) -> String {
        let names: Vec<String> = agents
            .iter()
            .map(|name| format!("\"{}\"", line(name.as_str())))
            .collect();
        let over = engine::is_over(self.pipeline, self.run);
        let over = if over {
            "the run is over; for a new task, "
        } else {
            ""
        };
        match names.as_slice() {
            [only] => format!("{over}call the Agent tool with subagent_type {only}"),
            several => format!(
                "{over}call the Agent tool with one of these as subagent_type: {}",
                several.join(", ")
            ),
        }
    }

    fn question(&self, question: &str, choices: &[Outcome]) -> String {
        let question = line(question);
        let words: Vec<String> = choices
            .iter()
            .map(|choice| format!("\"{choice}\""))
            .collect();
        let words = words.join(", ");
        if OPTIONS.contains(&choices.len()) {
            format!(
                "ask the person with AskUserQuestion; use exactly the question \"{question}\" and \
                 exactly the options {words}"
            )
        } else {
            format!(
                "the person must answer \"{question}\" with {words}: tell them to type \
                 `gatewright next {}`, then end your turn",
                self.run.id
            )
        }
    }

    /// The worker wrote its questions down; the person gets them unchanged.
    fn questions(&self) -> String {
        let ask = self.stage().and_then(|stage| stage.work.as_ask());
        let from = ask.and_then(|ask| match &ask.questions {
            Questions::From { field, .. } => Some(field),
            Questions::Choice { .. } => None,
        });
        let place = from.and_then(|field| {
            let artifact = self.pipeline.definition().artifacts.get(&field.artifact)?;
            let Source::File(path) = &artifact.source else {
                return None;
            };
            let path = filled(self.run, path, None);
            Some(format!(" (`{}` in `{}`)", line(&field.field), line(&path)))
        });
        let place = place.unwrap_or_default();
        format!(
            "ask the person each question of the worker{place} with AskUserQuestion, at most four in \
             one call; copy the question and its options exactly; \
             where a question has no options, offer two likely answers, and the person can type another"
        )
    }

    fn finish(&self) -> String {
        let commands = &self.pipeline.definition().commands;
        let typed = commands.iter().find(|(_, act)| **act == Act::Finish);
        match typed {
            Some((command, _)) => {
                format!(
                    "when the work is done, tell the person to type `/{command}`: it ends the stage"
                )
            }
            None => "when the work is done, tell the person to end the stage".to_owned(),
        }
    }

    /// The host's own list shows the steps to people; the run remains the source of truth. After the last
    /// step the steps are sent once more, so that the session can finish its list.
    fn mirror(&self) -> Option<String> {
        let graphs = &self.run.graphs;
        let here = graphs.get(&self.run.position.stage);
        let mut done = graphs.values().filter(|graph| is_done(graph));
        let graph = here.or_else(|| done.next())?;
        let steps = self.stage()?.work.as_steps();
        let limit = steps.and_then(|steps| steps.max_parallel.as_ref());
        let limit = limit.and_then(|limit| engine::amount(limit, self.run));
        let limit = limit.map(|limit| format!("At most {limit} at once. "));
        let shown = graph.members.iter().take(MIRRORED).map(mirrored);
        let more = graph.members.len().saturating_sub(MIRRORED);
        let more = match more {
            0 => String::new(),
            more => format!("\n  … and {more} more: `gatewright status` shows them"),
        };
        Some(format!(
            "{}If you have TaskCreate or TodoWrite, mirror the steps with it: subject `ID: title`, active \
             form `Working on TITLE`. This run decides which steps are done. The steps:{}{more}",
            limit.unwrap_or_default(),
            shown.collect::<String>()
        ))
    }
}

/// More steps than this are left to `gatewright status`.
const MIRRORED: usize = 20;

/// A step as a line of the host's list, in the words of such lists.
fn mirrored(member: &Member) -> String {
    let status = match member.state {
        MemberState::Done => "completed",
        MemberState::Working { .. } => "in_progress",
        MemberState::Pending | MemberState::Failed { .. } => "pending",
    };
    let (id, title) = (&member.step.id, line(&member.step.title));
    format!("\n  [{status}] {id}: {}", cut(&title, TITLE_COLUMNS))
}

fn is_done(graph: &Graph) -> bool {
    let mut members = graph.members.iter();
    members.all(|member| member.state == MemberState::Done)
}

fn waiting_for(agent: &AgentName, step: Option<&StepId>) -> String {
    let step = step
        .map(|step| format!(" on step {step}"))
        .unwrap_or_default();
    format!("wait for '{agent}', which is working{step}")
}
