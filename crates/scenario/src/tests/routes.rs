//! Routes lead into every stage, and on from there.

use engine::{HostName, Pipeline, Work};

use super::super::generate::Routes;
use super::super::step::{Act, CheckHow, Step};
use super::{SMALL, sources};

#[track_caller]
fn check(pipeline: &Pipeline) {
    let routes = Routes::find(pipeline, &HostName::listed("claude"));
    for stage in &pipeline.definition().stages {
        let name = &stage.name;
        // A run never rests in a route.
        if matches!(stage.work, Work::Route(_)) {
            assert!(routes.to(name).is_none());
            continue;
        }
        let route = routes
            .to(name)
            .unwrap_or_else(|| panic!("no way to {name}"));
        let last = route.legs.last().map(|leg| &leg.stage);
        assert_eq!(last.unwrap_or(&pipeline.definition().start), name);
        if matches!(&stage.work, Work::End(end) if end.after.is_empty()) {
            assert_eq!(routes.onward(&route), None);
            continue;
        }
        let onward = routes.onward(&route);
        let onward = onward.unwrap_or_else(|| panic!("no way on from {name}"));
        let (last, before) = onward.split_last().unwrap();
        assert_ne!(last.stage, *name);
        assert!(before.iter().all(|leg| leg.stage == *name), "{onward:?}");
    }
}

#[test]
fn every_stage_of_the_built_in_pipelines_is_reached_and_left() {
    for builtin in language::builtin::all() {
        check(&language::compile(&builtin.sources()).unwrap().pipeline);
    }
}

#[test]
fn a_step_from_the_end_of_a_route_is_told() {
    let compiled = language::compile(&sources("p.toml", SMALL.as_bytes())).unwrap();
    let pipeline = compiled.pipeline;
    check(&pipeline);
    let routes = Routes::find(&pipeline, &HostName::listed("claude"));
    let mut stages = pipeline.definition().stages.iter();
    let check = stages
        .find(|stage| matches!(stage.work, Work::Check(_)))
        .unwrap();
    let route = routes.to(&check.name).unwrap();
    let after = |how: CheckHow| {
        let meant = |step: &Step| matches!(step, Step::Act { act: Act::Check { how: one, .. }, .. } if *one == how);
        routes.after(&route, meant).map(|leg| leg.stage)
    };
    assert_ne!(after(CheckHow::Passes), after(CheckHow::Fails));
    assert!(after(CheckHow::Passes).is_some());
    assert_eq!(after(CheckHow::TimesOut), None);
}
