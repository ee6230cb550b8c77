//! The world around one run: what lies in the tree, and the journal that its decisions have made.

use engine::{
    AgentName, Beginning, Change, Decision, Driver, Entry, Event, Evidence, Hash, HostName,
    LineCount, Pipeline, Process, Run, RunId, SessionId, Step, StepId, Time, Who, apply,
};
use std::collections::BTreeMap;

/// How events are judged: the engine's own `decide`, or one that breaks a law on purpose.
pub(crate) type Judge<'a> = &'a dyn Fn(&Pipeline, &Run, &Event, &Evidence) -> Decision;

pub(crate) type Params = BTreeMap<engine::ParamName, String>;

#[derive(Clone, Debug)]
pub(crate) struct World {
    pub run: Run,
    /// Which of two trees lies there now.
    pub tree: u8,
}

pub(crate) fn hash(number: u8) -> Hash {
    Hash([number; 32])
}

/// What has changed since the run began: nothing in the one tree, and much in the other.
pub(crate) fn change(world: &World) -> Change {
    match world.tree {
        1 => Change::none(),
        _ => {
            let paths = (1..=9).map(|number| format!("src/file-{number}.rs"));
            Change::of(paths.collect(), LineCount::Counted(900))
        }
    }
}

pub(crate) fn session(number: u8) -> SessionId {
    SessionId::parse(&format!("session-{number}")).unwrap()
}

pub(crate) fn pipeline(text: &str) -> Result<Pipeline, String> {
    let sources = language::Sources {
        main: language::SourceFile {
            name: "random.toml".into(),
            bytes: text.as_bytes().to_vec(),
        },
        files: BTreeMap::new(),
    };
    let compiled = language::compile(&sources);
    compiled
        .map(|compiled| compiled.pipeline)
        .map_err(|problems| {
            problems
                .iter()
                .map(|problem| problem.render(text, language::Colour::Plain))
                .collect()
        })
}

/// Parameters that keep the walk small: limits are ones, required ones are there.
pub(crate) fn small_params(pipeline: &Pipeline) -> Params {
    let params = pipeline.definition().params.iter();
    params
        .filter(|(_, param)| param.required || param.default.as_deref().is_some_and(is_number))
        .map(|(name, _)| (name.clone(), String::from("1")))
        .collect()
}

fn is_number(text: &str) -> bool {
    text.parse::<u32>().is_ok()
}

/// A run that session one holds.
pub(crate) fn begun(pipeline: &Pipeline, params: &Params) -> (World, Vec<Entry>) {
    begun_with(pipeline, params, Vec::new())
}

/// The same where the steps are given that could also be planned; nothing where none are taken so.
pub(crate) fn begun_with_steps(pipeline: &Pipeline, params: &Params) -> Option<World> {
    pipeline.definition().begins_with_steps()?;
    let step = |id: &str, needs: &[&str]| Step {
        id: StepId::parse(id).unwrap(),
        title: String::from(id),
        agent: AgentName::parse("worker").unwrap(),
        needs: needs.iter().map(|id| StepId::parse(id).unwrap()).collect(),
    };
    let steps = vec![step("given", &[]), step("last", &["given"])];
    let (world, _) = begun_with(pipeline, params, steps);
    Some(world)
}

fn begun_with(pipeline: &Pipeline, params: &Params, steps: Vec<Step>) -> (World, Vec<Entry>) {
    let beginning = Beginning {
        branch: None,
        at: Time(0),
        by: Who::Session(session(1)),
        id: RunId::parse("r-1").unwrap(),
        definition: hash(0),
        task: String::from("try everything"),
        params: params.clone(),
        driver: Driver::Guarded,
        host: HostName::listed("claude"),
        process: Some(Process { id: 1, started: 1 }),
        session: Some(session(1)),
        steps,
        before: BTreeMap::new(),
        queued: false,
        environment: None,
        base: None,
        commit: None,
        unverified_host: None,
    };
    let decision = engine::begin(pipeline, &beginning);
    let run = engine::replay(&decision.entries).expect("a beginning folds");
    (World { run, tree: 1 }, decision.entries)
}

impl World {
    /// The world after a decision. Folding is `apply`, as in the store.
    pub(crate) fn after(&self, decision: &Decision) -> World {
        let fold = |run, entry: &Entry| apply(Some(run), entry).expect("a decision folds");
        World {
            run: decision.entries.iter().fold(self.run.clone(), fold),
            tree: self.tree,
        }
    }
}
