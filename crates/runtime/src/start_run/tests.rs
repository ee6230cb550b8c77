//! The host that a new run records.

use std::ffi::OsString;
use std::path::Path;

use super::*;
use crate::environment::Environment;

fn host_of(holder: Holder) -> String {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().canonicalize().unwrap();
    let project = folder.join("project");
    std::fs::create_dir(&project).unwrap();
    let variable = |name: &str, path: &Path| (OsString::from(name), path.into());
    let environment = Environment::new([
        variable("HOME", &folder),
        variable("XDG_STATE_HOME", &folder.join("state")),
    ]);
    let context = Context::at(environment, project);
    let mut workspace = Workspace::for_writing(&context).unwrap();
    let starting = StartRun {
        pipeline: "context-first".to_owned(),
        task: "test".to_owned(),
        params: Vec::new(),
        steps: Vec::new(),
        id: None,
        queued: false,
        patience: Duration::from_secs(1),
        by: Who::Engine,
        holder,
        drive: DriveRequest::default(),
    };
    match start(&mut workspace, starting, &ids::key().unwrap()) {
        Ok(Started::Run(opened)) => opened.run().host.to_string(),
        Ok(Started::Earlier(_) | Started::Refused(_)) => panic!("no run has started"),
        Err(DefinitionError::Failed(failure)) => panic!("{failure}"),
        Err(DefinitionError::Rejected { .. }) => panic!("the definition was rejected"),
    }
}

#[test]
fn a_run_records_the_program_of_its_session() {
    for program in Program::ALL {
        let holder = Holder::Session {
            session: SessionId::parse("s1").unwrap(),
            process: None,
            program,
        };
        assert_eq!(host_of(holder), program.word());
    }
}

#[test]
fn a_run_without_a_session_records_the_default_program() {
    assert_eq!(host_of(Holder::Hand), Program::DEFAULT.word());
}
