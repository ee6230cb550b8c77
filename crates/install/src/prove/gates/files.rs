//! Files that an agent may not write: those that the run depends on, and artifacts of other agents.

use std::path::Path;

use engine::Rule;
use runtime::failure::Failure;
use serde_json::json;

use super::super::exchange::Expected;
use super::super::payloads::{HookPayload, SimulatedWorker};
use super::super::simulation::Simulation;
use super::{Column, Gate, GateTester};
use crate::host::PLACES;

const OWN: &[Rule] = &[Rule::OwnFiles];
const FOREIGN: &[Rule] = &[Rule::ArtifactOwner];

pub(super) fn own_files(mut tester: GateTester<'_>) -> Result<Gate, Failure> {
    let simulation = tester.fresh()?;
    let state = simulation.sandbox.state_home().join("gatewright");
    let files = [
        ("the settings with the hooks", simulation.path(PLACES.local)),
        ("the shared settings", simulation.path(PLACES.shared)),
        ("the pipeline", simulation.path(".gatewright/mine.toml")),
        ("the state of runs", state.join("sessions/x")),
        ("this program", simulation.hook_commands.program().into()),
    ];
    for (what, path) in &files {
        let what = format!("a tool writes {what}");
        tester.refuses(what, OWN, |simulation| write(simulation, None, path))?;
    }
    let what = "the shell removes the settings";
    tester.refuses(what, OWN, |simulation| {
        shell(simulation, &format!("rm -f {}", PLACES.local))
    })?;
    if matches!(tester.fresh()?.denies("Write"), Ok(false)) {
        let what = "a tool writes an ordinary file";
        tester.answers(Column::Pass, what, Expected::Pass, |simulation| {
            write(simulation, None, &simulation.path("notes.txt"))
        })?;
    }
    tester.case(
        Column::Fault,
        "a link leads to the settings",
        |simulation| {
            let link = simulation.path("innocent");
            std::os::unix::fs::symlink(simulation.path(PLACES.folder), &link)
                .map_err(Failure::file("make", &link))?;
            let payload = write(simulation, None, &link.join("settings.local.json"));
            simulation.hook(payload, Expected::Refusal(OWN)).map(drop)
        },
    )?;
    Ok(tester.gate("own files", "the files that the run depends on"))
}

fn write(simulation: &Simulation, worker: Option<&SimulatedWorker>, path: &Path) -> HookPayload {
    let input = json!({ "file_path": path.to_string_lossy(), "content": "x" });
    simulation.payloads.tool(worker, "Write", &input)
}

fn shell(simulation: &Simulation, line: &str) -> HookPayload {
    simulation
        .payloads
        .tool(None, "Bash", &json!({ "command": line }))
}

/// The artifact of the next agent, if it is a file.
pub(super) fn artifacts(mut tester: GateTester<'_>) -> Result<Gate, Failure> {
    let gate = |tester: GateTester<'_>| tester.gate("artifacts", "the artifacts of other agents");
    let simulation = tester.fresh()?;
    let (Ok(run), Ok(Some(agent))) = (simulation.now(), simulation.next_agent()) else {
        return Ok(gate(tester));
    };
    let leaves = simulation.leaves_of(&run, agent.as_str());
    let names = leaves.all().into_iter();
    let mut paths = names.filter_map(|name| simulation.path_of(&run, name, None).ok()?);
    let Some(path) = paths.next() else {
        return Ok(gate(tester));
    };
    let what = format!("the session writes {path}");
    tester.refuses(what, FOREIGN, |simulation| {
        write(simulation, None, &simulation.path(&path))
    })?;
    if matches!(tester.fresh()?.denies("Write"), Ok(false)) {
        tester.case(
            Column::Pass,
            format!("'{agent}' writes {path}"),
            |simulation| {
                let worker = simulation.begins(&agent, None)?;
                let payload = write(simulation, Some(&worker), &simulation.path(&path));
                simulation.hook(payload, Expected::Pass).map(drop)
            },
        )?;
    }
    let what = format!("the session's shell writes {path}");
    tester.answers(
        Column::Fault,
        what,
        Expected::Refusal(FOREIGN),
        |simulation| shell(simulation, &format!("echo x > {path}")),
    )?;
    Ok(gate(tester))
}
