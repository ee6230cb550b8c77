//! An open run without a store, for tests of code that only reads it.

use std::collections::BTreeMap;
use std::rc::Rc;

use engine::{Beginning, Driver, Hash, Pipeline, RunId, Time, Who};
use hosts::Program;
use runtime::workspace::OpenRun;
use store::StoredRun;

/// The headless run `r-1` of this pipeline, right after its start at this time.
pub fn open_run(pipeline: Pipeline, task: &str, at: Time) -> OpenRun {
    let beginning = Beginning {
        at,
        by: Who::Engine,
        id: RunId::parse("r-1").expect("a run's id"),
        definition: Hash([0; 32]),
        task: task.to_owned(),
        params: BTreeMap::new(),
        driver: Driver::Headless,
        host: Program::DEFAULT.host_name(),
        session: None,
        process: None,
        steps: Vec::new(),
        before: BTreeMap::new(),
        queued: false,
        environment: None,
        base: None,
        commit: None,
        branch: None,
        unverified_host: None,
    };
    let decision = engine::begin(&pipeline, &beginning);
    let stored = StoredRun {
        run: engine::replay(&decision.entries).expect("the run starts"),
        version: 1,
        head: Hash([0; 32]),
        project: "p".to_owned(),
        home: "/p".to_owned(),
        pipeline: pipeline.definition().name.clone(),
    };
    OpenRun {
        stored: Rc::new(stored),
        pipeline: Rc::new(pipeline),
    }
}
