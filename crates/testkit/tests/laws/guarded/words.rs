//! The words of a story: a line says who did what, as a host, a person or a program would tell it.

use engine::{
    Actor, AgentName, Answer, ArtifactName, Asker, BypassAttempt, CallId, CheckpointName, Ending,
    EngineEvent, Event, Fault, Happening, Outcome, PersonEvent, ProtectedPath, Removed,
    SessionEvent, StepId, Time, ToolEvent, Unguarded, Usage, View, ViewChange, ViewFormat, Who,
    Witness, WorkEvent, WorkRef, WorkerId,
};

use crate::guarded::world::{World, process, session};

/// What a line tells. `WHO: ...` says who did it; without it, session s1 did.
pub(super) fn event(world: &World, line: &str) -> Event {
    let (by, rest) = match line.split_once(": ") {
        Some((who, rest)) if !who.starts_with("todo") => (self::who(who), rest),
        Some(_) | None => (Who::Session(session("s1")), line),
    };
    let mut words = Words::new(rest);
    let what = happening(world, &by, &mut words);
    assert!(words.left.is_empty(), "{line}: {:?} is left", words.left);
    Event {
        at: world.now,
        by,
        what,
    }
}

fn who(text: &str) -> Who {
    match text.split_whitespace().collect::<Vec<_>>().as_slice() {
        ["person"] => Who::Person("ada".into()),
        ["script"] => Who::Unattended("ci".into()),
        ["model"] => Who::Agent("CLAUDECODE is set".into()),
        ["engine"] => Who::Engine,
        ["typed"] => Who::Through(session("s1")),
        ["typed", id] => Who::Through(session(id)),
        [id] => Who::Session(session(id)),
        _ => panic!("{text} is nobody"),
    }
}

/// The words of a line, in order; marked ones may stand anywhere behind the verb.
struct Words<'a> {
    left: Vec<&'a str>,
}

impl<'a> Words<'a> {
    fn new(line: &'a str) -> Self {
        let left = line.split_whitespace().collect();
        Self { left }
    }

    fn next(&mut self) -> &'a str {
        self.left.remove(0)
    }

    /// The word behind this mark, as `call A`.
    fn marked(&mut self, mark: &str) -> Option<&'a str> {
        let at = self.left.iter().position(|word| *word == mark)?;
        self.left.remove(at);
        Some(self.left.remove(at))
    }

    fn has(&mut self, mark: &str) -> bool {
        let at = self.left.iter().position(|word| *word == mark);
        at.map(|at| self.left.remove(at)).is_some()
    }

    fn rest(&mut self) -> String {
        std::mem::take(&mut self.left).join(" ")
    }

    fn call(&mut self) -> Option<CallId> {
        self.marked("call").map(|id| CallId::parse(id).unwrap())
    }

    fn step(&mut self) -> Option<StepId> {
        self.marked("step").map(|id| StepId::parse(id).unwrap())
    }

    /// `by w1 alpha-writer`: a worker of the session acts.
    fn asker(&mut self) -> Option<Asker> {
        self.actor().map(|actor| Asker {
            actor,
            tools: &["Agent", "Task"],
        })
    }

    fn actor(&mut self) -> Option<Actor> {
        let at = self.left.iter().position(|word| *word == "by")?;
        self.left.remove(at);
        let id = worker(self.left.remove(at));
        let agent = agent(self.left.remove(at));
        Some(Actor { id, agent })
    }
}

fn worker(id: &str) -> WorkerId {
    WorkerId::parse(id).unwrap()
}

fn agent(name: &str) -> AgentName {
    AgentName::parse(name).unwrap()
}

fn happening(world: &World, by: &Who, words: &mut Words<'_>) -> Happening {
    match words.next() {
        "ask" => {
            let (step, call, worker) = (words.step(), words.call(), words.asker());
            Happening::Work(WorkEvent::Requested {
                agent: agent(words.next()),
                step,
                model: None,
                call,
                worker,
                service: None,
            })
        }
        "begins" => Happening::Work(WorkEvent::Began {
            worker: Actor {
                id: worker(words.next()),
                agent: agent(words.next()),
            },
        }),
        "interrupted" => Happening::Work(WorkEvent::Interrupted {
            worker: worker(words.next()),
        }),
        "launched" => Happening::Work(WorkEvent::Launched {
            call: words.call().unwrap(),
            worker: worker(words.next()),
        }),
        "write" => Happening::Work(WorkEvent::MessageRequested {
            call: words.call(),
            worker: words.asker(),
            to: worker(words.next()),
        }),
        "tool" => tool(words),
        "used" => Happening::Tool(ToolEvent::Used {
            worker: words.actor(),
        }),
        "stop" => Happening::Session(SessionEvent::StopRequested {
            background_work: words.has("background"),
        }),
        "todo" => Happening::Session(SessionEvent::TodosMarked {
            done: words.rest().split(", ").map(str::to_owned).collect(),
        }),
        "unhook" => Happening::Session(SessionEvent::HooksRemoved {
            how: "the hooks are gone".into(),
        }),
        "remark" => Happening::Session(SessionEvent::Remarked {
            message: words.rest(),
        }),
        "view" => view(words),
        "unguarded" => Happening::Session(SessionEvent::Unguarded(Unguarded {
            witness: Witness::Transcript,
            what: words.rest(),
            from: world.now,
            until: world.now,
        })),
        "unevaluated" => Happening::Session(SessionEvent::Unevaluated { what: words.rest() }),
        "prompt" => Happening::Session(SessionEvent::PromptSubmitted { text: words.rest() }),
        "time" => Happening::Engine(EngineEvent::TimePassed),
        "arrives" => Happening::Session(SessionEvent::Started {
            session: own_session(by),
            process: words.marked("process").map(process),
            heir_of: words.marked("heir").map(session),
            unverified_host: words.has("unverified").then(|| "a shell".to_owned()),
        }),
        "leaves" => Happening::Session(SessionEvent::Ended {
            session: own_session(by),
        }),
        verb => ending(world, verb, words),
    }
}

/// `view removed`, `view edited`; with `stops` it is one whose removal stops the run.
fn view(words: &mut Words<'_>) -> Happening {
    let removed = if words.has("stops") {
        Removed::Waits
    } else {
        Removed::Rendered
    };
    let how = match words.next() {
        "edited" => ViewChange::Edited,
        "removed" => ViewChange::Removed,
        other => panic!("nobody knows how to have {other} a view"),
    };
    let path = "shown.json".to_owned();
    Happening::Engine(EngineEvent::ViewChanged {
        view: View {
            format: ViewFormat::Status,
            path: path.clone(),
            removed,
            readers: engine::Readers::Owner,
        },
        path,
        how,
    })
}

fn own_session(by: &Who) -> engine::SessionId {
    by.session().expect("a session does this").clone()
}

fn tool(words: &mut Words<'_>) -> Happening {
    let worker = words.actor();
    let protected_paths = protected(words).into_iter().collect();
    let bypass = words.marked("door").map(bypass);
    Happening::Tool(ToolEvent::Requested {
        tool: words.next().to_owned(),
        worker,
        protected_paths,
        bypass,
    })
}

fn protected(words: &mut Words<'_>) -> Option<ProtectedPath> {
    Some(match words.marked("touches")? {
        "state" => ProtectedPath::State,
        "settings" => ProtectedPath::Settings,
        "definition" => ProtectedPath::Definition,
        "program" => ProtectedPath::Program,
        artifact => {
            let (name, step) = match artifact.split_once('@') {
                Some((name, step)) => (name, Some(StepId::parse(step).unwrap())),
                None => (artifact, None),
            };
            ProtectedPath::Artifact {
                artifact: ArtifactName::parse(name).unwrap(),
                step,
            }
        }
    })
}

fn bypass(word: &str) -> BypassAttempt {
    match word {
        "workflow" => BypassAttempt::Workflow,
        "claude" => BypassAttempt::AgentProgram("claude -p".into()),
        "hook" => BypassAttempt::HookCall,
        "helper-writes" => BypassAttempt::HelperWrites("Write".into()),
        "reset" => BypassAttempt::PersonsCommand("gatewright reset".into()),
        name => match name.strip_prefix("own:") {
            Some(own) => BypassAttempt::OwnAgent(agent(own)),
            None => BypassAttempt::NoName(name.into()),
        },
    }
}

/// How hosts report that an agent has ended, or tries to.
fn ending(world: &World, verb: &str, words: &mut Words<'_>) -> Happening {
    let finished = |words: &mut Words<'_>| Ending::Finished {
        worked: words.marked("tools").is_some_and(|uses| uses != "0"),
    };
    let ending = match verb {
        // SubagentStop: the worker can still be sent back.
        "stopping" => Ending::Stopping { worked: false },
        // The tool's result, and the notification of a background agent.
        "returned" | "notified" => finished(words),
        "failed" => Ending::Fault {
            fault: Fault::Crashed,
            reason: "the host says that it failed".into(),
        },
        "session" => return session_pauses(words),
        verb => return command(world, verb, words),
    };
    let (call, tokens) = (words.call(), words.marked("tokens"));
    let work = WorkRef::Host {
        call,
        worker: (!words.left.is_empty()).then(|| worker(words.next())),
    };
    let tokens = tokens.map_or(0, |tokens| tokens.parse().unwrap());
    Happening::Work(WorkEvent::Ended {
        work,
        ending,
        usage: Usage {
            tokens,
            ..Usage::default()
        },
    })
}

/// The main session turns to something else: its own work is judged.
fn session_pauses(words: &mut Words<'_>) -> Happening {
    assert_eq!(words.next(), "pauses");
    Happening::Work(WorkEvent::Ended {
        work: WorkRef::Agent {
            agent: agent(engine::SESSION),
            step: None,
        },
        ending: Ending::Stopping { worked: true },
        usage: Usage::default(),
    })
}

/// What only people may ask for.
fn command(world: &World, verb: &str, words: &mut Words<'_>) -> Happening {
    let silent = words.has("silently");
    let reason = || String::from(if silent { " " } else { "because" });
    match verb {
        "answer" => match words.next() {
            "continue" if !words.has("choice") => {
                Happening::Person(PersonEvent::Answered(Answer::Continue { words: None }))
            }
            choice => Happening::Person(PersonEvent::Answered(Answer::Choice {
                choice: Outcome::parse(choice).unwrap(),
                words: None,
            })),
        },
        "take" => {
            assert_eq!(words.next(), "edits");
            Happening::Person(PersonEvent::EditsTaken)
        }
        "finish" => Happening::Person(PersonEvent::FinishAsked),
        "skip" => Happening::Person(PersonEvent::SkipAsked {
            outcome: Some(Outcome::parse(words.next()).unwrap()),
            reason: reason(),
        }),
        "retry" => Happening::Person(PersonEvent::RetryAsked),
        "cancel" => Happening::Person(PersonEvent::CancelAsked { reason: reason() }),
        "reset" => Happening::Person(PersonEvent::ResetAsked { reason: reason() }),
        "checkpoint" => Happening::Person(PersonEvent::CheckpointAsked {
            name: CheckpointName::parse(words.next()).unwrap(),
        }),
        "restore" => Happening::Person(PersonEvent::RestoreAsked {
            entry: 1,
            state: Box::new(world.run.clone()),
            reason: reason(),
        }),
        "adopt" => Happening::Person(PersonEvent::AdoptAsked {
            machine: String::from("lost"),
            entry: 1,
        }),
        "bypass" => Happening::Person(PersonEvent::BypassAsked {
            until: Time(world.now.0 + words.next().parse::<u64>().unwrap() * 1000),
            reason: reason(),
        }),
        "report" => Happening::Work(WorkEvent::Reported {
            agent: Some(agent(words.next())),
            step: None,
            said: None,
            usage: Usage::default(),
        }),
        verb => panic!("{verb} is no word of a story"),
    }
}
