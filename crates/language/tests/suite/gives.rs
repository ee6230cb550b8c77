//! What the built-in pipelines give to a host agrees with what they say.

use std::collections::{BTreeMap, BTreeSet};

use engine::{
    AgentName, Artifact, ArtifactName, Definition, Leaves, Source, Work, Worker, WorkerSettings,
};
use language::builtin::{self, Builtin};
use language::{compile, given_files};

fn definition(builtin: &Builtin) -> Definition {
    let compiled = compile(&builtin.sources()).expect("it compiles");
    compiled.pipeline.definition().clone()
}

/// The texts that a host is given, by their path.
fn given(builtin: &Builtin) -> BTreeMap<String, String> {
    let sources = builtin.sources();
    let text = |bytes: &[u8]| String::from_utf8(bytes.into()).expect("it is text");
    given_files(&sources)
        .into_iter()
        .map(|(path, bytes)| (path.to_owned(), text(bytes)))
        .collect()
}

/// The front matter, key by key. Only what every reader of YAML reads alike is written there.
fn front_matter<'t>(path: &str, text: &'t str) -> BTreeMap<&'t str, &'t str> {
    let parts = text
        .strip_prefix("---\n")
        .and_then(|rest| rest.split_once("\n---\n\n"));
    let (head, body) = parts.expect(path);
    assert!(!body.trim().is_empty(), "{path} says nothing");
    let pair = |line: &'t str| {
        let (key, value) = line.split_once(": ").expect("a key and a value");
        let plain = !value.contains(": ") && !value.contains(" #") && !value.contains('"');
        assert!(plain, "{path}: {line} must be quoted");
        (key, value)
    };
    head.lines().map(pair).collect()
}

/// Who works for the host, and what each leaves. Another runner's workers are not the host's.
fn workers(definition: &Definition) -> Vec<(AgentName, Vec<ArtifactName>)> {
    let hosted = |settings: &WorkerSettings| settings.runner.is_none();
    let mut workers = Vec::new();
    for stage in &definition.stages {
        match &stage.work {
            Work::Agent(work) if hosted(&work.settings) => {
                if let Worker::Agent(agent) = &work.worker {
                    workers.push((agent.clone(), all(&work.leaves)));
                }
            }
            Work::Review(work) => {
                workers.push((work.owner.clone(), work.fixes.clone()));
                let panel = work.panel.iter().filter(|it| hosted(&it.settings));
                workers.extend(panel.map(|it| (it.agent.clone(), vec![it.leaves.clone()])));
            }
            Work::Open(work) => {
                for (agent, leaves) in &work.leaves {
                    let agent = AgentName::parse(agent.as_str()).expect("a name");
                    workers.push((agent, leaves.clone()));
                }
            }
            _ => {}
        }
    }
    workers
}

fn all(leaves: &Leaves) -> Vec<ArtifactName> {
    let by_outcome = leaves.by_outcome.values().flatten();
    leaves.always.iter().chain(by_outcome).cloned().collect()
}

/// What a worker must know to leave this artifact as it is wanted.
fn wanted(artifact: &Artifact) -> Vec<&str> {
    let path = match &artifact.source {
        Source::File(path) => path.as_str(),
        Source::Reply => "last message",
        Source::Answers => "",
    };
    let outcome = artifact.outcome.iter();
    let words = outcome.flat_map(|it| it.values.keys().chain([&it.field]));
    [path]
        .into_iter()
        .chain(artifact.require.iter().chain(words).map(String::as_str))
        .collect()
}

#[test]
fn each_agent_of_a_built_in_is_given_and_told_what_to_leave() {
    for builtin in builtin::all() {
        let (definition, given) = (definition(builtin), given(builtin));
        for (agent, leaves) in workers(&definition) {
            let path = format!("agents/{agent}.md");
            let text = given
                .get(&path)
                .unwrap_or_else(|| panic!("{path} is not given"));
            for name in leaves {
                for word in wanted(&definition.artifacts[&name]) {
                    assert!(
                        text.contains(word),
                        "{}: {path} does not say {word}",
                        builtin.name
                    );
                }
            }
        }
    }
}

#[test]
fn agents_and_skills_go_by_the_names_of_their_files() {
    for builtin in builtin::all() {
        for (path, text) in given(builtin) {
            let front = front_matter(&path, &text);
            let parts: Vec<&str> = path.split('/').collect();
            let name = match parts.as_slice() {
                ["agents", file] => Some(file.trim_end_matches(".md")),
                ["skills", name, "SKILL.md"] => Some(*name),
                _ => None,
            };
            assert_eq!(front.get("name").copied(), name, "{path}");
            assert!(front.contains_key("description"), "{path}");
        }
    }
}

/// A model that could invoke it would act as a person.
#[test]
fn each_command_of_a_built_in_is_given_and_is_a_persons() {
    for builtin in builtin::all() {
        let (definition, given) = (definition(builtin), given(builtin));
        let named: BTreeSet<String> = definition
            .commands
            .keys()
            .map(|name| format!("commands/{name}.md"))
            .collect();
        for path in &named {
            assert!(given.contains_key(path), "{}: {path}", builtin.name);
            let front = front_matter(path, &given[path]);
            assert_eq!(
                front.get("disable-model-invocation"),
                Some(&"true"),
                "{path}"
            );
        }
    }
}

/// A command that does nothing to a run may be anybody's, if it says that it does nothing.
#[test]
fn the_other_commands_of_a_built_in_say_that_they_move_no_run() {
    for builtin in builtin::all() {
        let definition = definition(builtin);
        for (path, text) in given(builtin) {
            let name = path.strip_prefix("commands/");
            let Some(name) = name.and_then(|name| name.strip_suffix(".md")) else {
                continue;
            };
            let acts = definition.commands.keys().any(|it| it.as_str() == name);
            let aside = text.contains("does not belong to a run");
            assert_eq!(acts, !aside, "{}: {path}", builtin.name);
        }
    }
}

/// One folder of a host takes the files of all built-ins.
#[test]
fn no_two_built_ins_give_a_file_of_one_name() {
    let mut paths = BTreeSet::new();
    for builtin in builtin::all() {
        let given = given(builtin);
        assert!(!given.is_empty(), "{} gives nothing", builtin.name);
        for path in given.into_keys() {
            assert!(paths.insert(path.clone()), "{path} is given twice");
        }
    }
}

#[test]
fn the_workers_of_multi_ai_have_the_models_of_its_table() {
    let builtin = builtin::find("multi-ai").expect("it is built in");
    let given = given(builtin);
    for (agent, model) in [
        ("requirements-gatherer", "opus"),
        ("planner", "opus"),
        ("plan-reviewer", "sonnet"),
        ("implementer", "sonnet"),
        ("code-reviewer", "sonnet"),
    ] {
        let path = format!("agents/{agent}.md");
        assert_eq!(
            front_matter(&path, &given[&path])["model"],
            model,
            "{agent}"
        );
    }
    // Of the reviewers the panel says who works: sonnet, opus, and Codex as the last word.
    let definition = definition(builtin);
    let panels = definition
        .stages
        .iter()
        .filter_map(|stage| match &stage.work {
            Work::Review(work) => Some((stage.name.as_str(), &work.panel)),
            _ => None,
        });
    for (stage, panel) in panels {
        // What is small has one reviewer.
        if stage == "quick_reviewing" {
            assert_eq!(panel.len(), 1);
            continue;
        }
        let told = panel.iter().map(|it| match &it.settings.runner {
            Some(runner) => runner.as_str(),
            None => it.settings.model.as_deref().unwrap_or_default(),
        });
        assert_eq!(told.collect::<Vec<_>>(), ["sonnet", "opus", "codex"]);
        let last: Vec<bool> = panel.iter().map(|it| it.last_word).collect();
        assert_eq!(last, [false, false, true]);
    }
}

#[test]
fn whoever_fixes_is_told_the_rules_of_fixing() {
    let given = given(builtin::find("multi-ai").expect("it is built in"));
    for agent in ["planner", "implementer"] {
        let text = given[&format!("agents/{agent}.md")].to_lowercase();
        for rule in [
            "accept all feedback without debate",
            "not symptoms",
            "nothing new",
        ] {
            assert!(text.contains(rule), "{agent} is not told: {rule}");
        }
    }
    let text = &given["agents/implementer.md"];
    for rule in [
        "write the test first",
        "Run the tests after every change",
        "architecture changes",
    ] {
        assert!(text.contains(rule), "{rule}");
    }
}
