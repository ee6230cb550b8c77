//! Files that an agent may not write: what the run rests on, and what another agent leaves.

use std::path::Path;

use engine::Rule;
use runtime::failure::Failure;
use serde_json::json;

use super::super::exchange::Expected;
use super::super::scene::Scene;
use super::super::wire::{Sent, Worker};
use super::{Bench, Column, Gate};
use crate::install::host::PLACES;

const OWN: &[Rule] = &[Rule::OwnFiles];
const FOREIGN: &[Rule] = &[Rule::ArtifactOwner];

pub fn own_files(mut bench: Bench<'_>) -> Result<Gate, Failure> {
    let scene = bench.fresh()?;
    let state = scene.folder.state_home().join("gatewright");
    let files = [
        ("the settings with the hooks", scene.path(PLACES.local)),
        ("the shared settings", scene.path(PLACES.shared)),
        ("the pipeline", scene.path(".gatewright/mine.toml")),
        ("the state of runs", state.join("sessions/x")),
        ("this program", scene.lines.program().into()),
    ];
    for (what, path) in &files {
        let what = format!("a tool writes {what}");
        bench.refuses(what, OWN, |scene| write(scene, None, path))?;
    }
    let what = "the shell removes the settings";
    bench.refuses(what, OWN, |scene| {
        shell(scene, &format!("rm -f {}", PLACES.local))
    })?;
    if matches!(bench.fresh()?.denies("Write"), Ok(false)) {
        let what = "a tool writes an ordinary file";
        bench.answers(Column::Pass, what, Expected::Pass, |scene| {
            write(scene, None, &scene.path("notes.txt"))
        })?;
    }
    bench.case(Column::Fault, "a link leads to the settings", |scene| {
        let link = scene.path("innocent");
        std::os::unix::fs::symlink(scene.path(PLACES.folder), &link)
            .map_err(Failure::file("make", &link))?;
        let sent = write(scene, None, &link.join("settings.local.json"));
        scene.hook(sent, Expected::Refusal(OWN)).map(drop)
    })?;
    Ok(bench.gate("own files", "the files that the run depends on"))
}

fn write(scene: &Scene, worker: Option<&Worker>, path: &Path) -> Sent {
    let input = json!({ "file_path": path.to_string_lossy(), "content": "x" });
    scene.pen.tool(worker, "Write", &input)
}

fn shell(scene: &Scene, line: &str) -> Sent {
    scene.pen.tool(None, "Bash", &json!({ "command": line }))
}

/// The artifact of the agent in turn, where it is a file.
pub fn artifacts(mut bench: Bench<'_>) -> Result<Gate, Failure> {
    let gate = |bench: Bench<'_>| bench.gate("artifacts", "the artifacts of other agents");
    let scene = bench.fresh()?;
    let (Ok(run), Ok(Some(agent))) = (scene.now(), scene.in_turn()) else {
        return Ok(gate(bench));
    };
    let leaves = scene.leaves_of(&run, agent.as_str());
    let names = leaves.all().into_iter();
    let mut paths = names.filter_map(|name| scene.path_of(&run, name, None).ok()?);
    let Some(path) = paths.next() else {
        return Ok(gate(bench));
    };
    let what = format!("the session writes {path}");
    bench.refuses(what, FOREIGN, |scene| {
        write(scene, None, &scene.path(&path))
    })?;
    if matches!(bench.fresh()?.denies("Write"), Ok(false)) {
        bench.case(Column::Pass, format!("'{agent}' writes {path}"), |scene| {
            let worker = scene.begins(&agent, None)?;
            let sent = write(scene, Some(&worker), &scene.path(&path));
            scene.hook(sent, Expected::Pass).map(drop)
        })?;
    }
    let what = format!("the session's shell writes {path}");
    bench.answers(Column::Fault, what, Expected::Refusal(FOREIGN), |scene| {
        shell(scene, &format!("echo x > {path}"))
    })?;
    Ok(gate(bench))
}
