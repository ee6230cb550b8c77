//! What each runner can do, and what a pipeline requires of it.
//!
//! A promise that nobody can keep is refused, by `lint` and at every start.

use std::collections::BTreeMap;

use engine::{
    AgentPattern, CheckRule, Conversation, Definition, Place, Problem, Stage, Work, Worker,
    WorkerSettings,
};
use hosts::{Abilities, Program};

/// The runner of a script of the definition.
pub const COMMAND: &str = "command";

/// The default runner.
pub const DEFAULT: &str = Program::DEFAULT.word();

/// Nothing is known about scripts.
const OF_A_SCRIPT: Abilities = Abilities {
    blocks_tools: false,
    resumes_exactly: false,
    reports_usage: false,
    reports_cost: false,
    limits_cost: false,
};

/// The abilities of this runner; `None` for an unknown one.
pub fn abilities(runner: &str) -> Option<Abilities> {
    match runner {
        COMMAND => Some(OF_A_SCRIPT),
        runner => program(runner).map(Program::abilities),
    }
}

/// The agent program of this runner.
pub fn program(runner: &str) -> Option<Program> {
    let mut all = Program::ALL.into_iter();
    all.find(|program| program.word() == runner)
}

/// The names of all runners.
pub fn known() -> Vec<&'static str> {
    let programs = Program::ALL.iter().map(|program| program.word());
    programs.chain([COMMAND]).collect()
}

/// A worker of a definition, with its runner.
#[derive(Clone, Debug)]
pub struct Member<'a> {
    pub stage: &'a Stage,
    pub who: String,
    /// `None` for the agents of an open stage, about which the definition says nothing.
    pub settings: Option<&'a WorkerSettings>,
    pub runner: &'a str,
    /// Its keys in the definition file.
    keys: Vec<String>,
}

/// Every worker of the definition. `default` is the runner of those without one.
pub fn members<'a>(definition: &'a Definition, default: &'a str) -> Vec<Member<'a>> {
    let stages = definition.stages.iter();
    stages
        .flat_map(|stage| members_of(stage, default))
        .collect()
}

fn members_of<'a>(stage: &'a Stage, default: &'a str) -> Vec<Member<'a>> {
    let member = |who: String, settings: Option<&'a WorkerSettings>, keys: &[&str]| {
        let runner = settings.and_then(|settings| settings.runner.as_ref());
        let above = ["stages", stage.name.as_str()].into_iter();
        Member {
            stage,
            who,
            settings,
            runner: runner.map_or(default, |runner| runner.as_str()),
            keys: above
                .chain(keys.iter().copied())
                .map(str::to_owned)
                .collect(),
        }
    };
    match &stage.work {
        Work::Agent(work) => {
            let who = match &work.worker {
                Worker::Session => "the session".to_owned(),
                Worker::Agent(agent) => format!("'{agent}'"),
            };
            vec![member(who, Some(&work.settings), &[])]
        }
        Work::Steps(work) => vec![member(among(&work.agents), Some(&work.settings), &[])],
        Work::Open(work) => vec![member(among(&work.allow), None, &[])],
        Work::Review(work) => {
            let owner = member(format!("'{}'", work.owner), Some(&work.owner_settings), &[]);
            let panel = work.panel.iter().enumerate().map(|(place, reviewer)| {
                let who = format!("'{}'", reviewer.agent);
                let place = place.to_string();
                member(who, Some(&reviewer.settings), &["panel", &place])
            });
            panel.chain([owner]).collect()
        }
        Work::Check(_) | Work::Ask(_) | Work::Route(_) | Work::End(_) => Vec::new(),
    }
}

fn among(agents: &[AgentPattern]) -> String {
    match agents {
        [] => "any agent".to_owned(),
        several => {
            let names = several.iter().map(|agent| format!("'{}'", agent.as_str()));
            names.collect::<Vec<_>>().join(", ")
        }
    }
}

/// Problems with the runners of this definition. `files` are the files that it refers to.
pub fn problems(
    definition: &Definition,
    files: &BTreeMap<String, Vec<u8>>,
    default: &str,
) -> Vec<Problem> {
    let mut members = members(definition, default);
    let fallbacks = members.iter().flat_map(Member::fallbacks);
    let fallbacks: Vec<Member<'_>> = fallbacks.collect();
    let repeated: Vec<Problem> = members.iter().filter_map(Member::repeated).collect();
    members.extend(fallbacks);
    let of_members = members.iter().flat_map(|member| member.problems(files));
    of_members
        .chain(repeated)
        .chain(uncounted(definition, &members))
        .collect()
}

impl<'a> Member<'a> {
    /// The same worker with each other program that may stand in for its own.
    fn fallbacks(&self) -> Vec<Member<'a>> {
        let fallbacks = self.settings.map(|settings| settings.fallbacks.as_slice());
        let named = fallbacks.unwrap_or_default().iter();
        let named = named.filter_map(|fallback| fallback.runner.as_ref());
        let others = named.map(|runner| Member {
            runner: runner.as_str(),
            keys: self
                .keys
                .iter()
                .cloned()
                .chain(["fallback".to_owned()])
                .collect(),
            ..self.clone()
        });
        others.filter(|other| other.runner != self.runner).collect()
    }

    /// A fallback that is the same as one before it does nothing.
    fn repeated(&self) -> Option<Problem> {
        let settings = self.settings?;
        let services: Vec<_> = settings
            .services()
            .map(|service| {
                let runner = service
                    .runner
                    .as_ref()
                    .map_or(self.runner, |it| it.as_str());
                (runner.to_owned(), service.model)
            })
            .collect();
        let mut places = services.iter().enumerate();
        let (_, again) = places.find(|(place, service)| services[..*place].contains(service))?;
        let (runner, model) = again;
        let model = model.as_deref().unwrap_or("no model");
        let message = format!("{} names {runner} with {model} twice", self.who);
        let hint = "remove it, or name another model or program".to_owned();
        Some(self.problem(CheckRule::EmptyFallback, "model", message, hint))
    }
}

impl Member<'_> {
    fn problems(&self, files: &BTreeMap<String, Vec<u8>>) -> Vec<Problem> {
        let Some(abilities) = abilities(self.runner) else {
            return vec![self.unknown()];
        };
        let script = self.script(files);
        script
            .into_iter()
            .chain(self.tools(abilities))
            .chain(self.conversation(abilities))
            .collect()
    }

    fn problem(&self, rule: CheckRule, key: &str, message: String, hint: String) -> Problem {
        let mut keys = self.keys.clone();
        keys.push(key.to_owned());
        Problem {
            rule,
            place: Place(keys),
            message,
            hint,
        }
    }

    fn unknown(&self) -> Problem {
        let (runner, known) = (self.runner, known());
        let hint = match engine::nearest(runner, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("the runners are {}", known.join(", ")),
        };
        let message = format!("unknown runner `{runner}`");
        self.problem(CheckRule::UnknownRunner, "runner", message, hint)
    }

    /// The script must exist and have a `#!` line.
    fn script(&self, files: &BTreeMap<String, Vec<u8>>) -> Option<Problem> {
        if self.runner != COMMAND {
            return None;
        }
        let who = &self.who;
        let name = self.settings.and_then(|settings| settings.prompt.as_ref());
        let (key, message, hint) = match name.map(|name| (name, files.get(name))) {
            None => (
                "runner",
                format!("{who} has the runner `command` and no script"),
                "set `prompt` to the path of the script",
            ),
            Some((name, Some(bytes))) if !bytes.starts_with(b"#!") => (
                "prompt",
                format!("{name} has no `#!` line"),
                "start it with `#!/bin/sh` or another interpreter",
            ),
            Some(_) => return None,
        };
        Some(self.problem(CheckRule::NoScript, key, message, hint.to_owned()))
    }

    fn tools(&self, abilities: Abilities) -> Option<Problem> {
        if self.stage.tools_deny.is_empty() || abilities.blocks_tools {
            return None;
        }
        let (stage, runner, who) = (&self.stage.name, self.runner, &self.who);
        let message = format!("{stage} denies tools, and `{runner}` cannot enforce that for {who}");
        let hint = format!(
            "remove `tools.deny` from the stage, or use the runner {}",
            others(|abilities| abilities.blocks_tools)
        );
        Some(self.problem(CheckRule::RunnerCannot, "runner", message, hint))
    }

    fn conversation(&self, abilities: Abilities) -> Option<Problem> {
        let settings = self.settings?;
        if settings.conversation == Conversation::Fresh || abilities.resumes_exactly {
            return None;
        }
        let (runner, who) = (self.runner, &self.who);
        let message = format!("`{runner}` cannot resume the conversation of {who}");
        let hint = format!(
            "remove `conversation`, or use the runner {}",
            others(|abilities| abilities.resumes_exactly)
        );
        Some(self.problem(CheckRule::RunnerCannot, "conversation", message, hint))
    }
}

/// The runners that can do it, as `claude or codex`.
fn others(can: impl Fn(Abilities) -> bool) -> String {
    let able = known().into_iter();
    let able = able.filter(|runner| abilities(runner).is_some_and(&can));
    let able: Vec<String> = able.map(|runner| format!("`{runner}`")).collect();
    able.join(" or ")
}

/// A budget counts only reported usage. A limit that no runner reports does nothing.
fn uncounted(definition: &Definition, members: &[Member<'_>]) -> Vec<Problem> {
    let budget = &definition.budget;
    type Tells = fn(Abilities) -> bool;
    let (usage, cost): (Tells, Tells) = (|it| it.reports_usage, |it| it.reports_cost);
    let limits = [
        ("turns", budget.turns.is_some(), usage),
        ("tokens", budget.tokens.is_some(), usage),
        ("cost", budget.cost_cents.is_some(), cost),
    ];
    let limits = limits.into_iter().filter(|(_, limited, _)| *limited);
    limits
        .filter_map(|(what, _, tells)| uncounted_limit(what, members, tells))
        .collect()
}

/// `writer (codex) and critic (gemini)`.
fn silent_members(silent: &[&Member<'_>]) -> String {
    let named = silent.iter();
    let named: Vec<String> = named
        .map(|member| format!("{} ({})", member.who, member.runner))
        .collect();
    named.join(" and ")
}

fn uncounted_limit(
    what: &str,
    members: &[Member<'_>],
    tells: fn(Abilities) -> bool,
) -> Option<Problem> {
    let is_silent = |member: &&Member<'_>| abilities(member.runner).is_some_and(|it| !tells(it));
    let silent: Vec<&Member<'_>> = members.iter().filter(is_silent).collect();
    let all = silent.len() == members.len();
    silent.first()?;
    let (rule, message) = if all {
        (
            CheckRule::RunnerCannot,
            format!("the budget limits {what}, which no runner here reports"),
        )
    } else {
        (
            CheckRule::PartlyCounted,
            format!(
                "the budget limits {what}, which not every runner reports: the usage of {} is not counted",
                silent_members(&silent)
            ),
        )
    };
    Some(Problem {
        rule,
        place: Place(vec!["budget".to_owned(), what.to_owned()]),
        message,
        hint: "limit what every runner reports, or the `time`".to_owned(),
    })
}
