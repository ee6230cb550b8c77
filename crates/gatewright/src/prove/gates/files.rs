//! Files that an agent may not write: what the run rests on, and what another agent leaves.

use std::path::Path;

use engine::Rule;
use serde_json::json;

use super::super::exchange::Expected;
use super::super::scene::Scene;
use super::super::trouble::Tried;
use super::{Bench, Column, Gate};
use crate::failure::Failure;

const OWN: &[Rule] = &[Rule::OwnFiles];

pub fn own_files(mut bench: Bench<'_>) -> Result<Gate, Failure> {
    let scene = bench.fresh()?;
    let state = scene.folder.state_home().join("gatewright");
    let program = scene.lines.program().to_owned();
    let files = [
        (
            "the settings with the hooks",
            scene.path(".claude/settings.local.json"),
        ),
        ("the shared settings", scene.path(".claude/settings.json")),
        ("the pipeline", scene.path(".gatewright/mine.toml")),
        ("the state of runs", state.join("sessions/x")),
        ("this program", program.into()),
    ];
    for (what, path) in &files {
        bench.case(
            Column::Refusal,
            format!("{what} would be written"),
            |scene| write(scene, path, Expected::Refusal(OWN)),
        )?;
    }
    bench.case(
        Column::Refusal,
        "the shell would remove the settings",
        |scene| {
            let input = json!({ "command": "rm -f .claude/settings.local.json" });
            scene
                .hook(scene.pen.tool(None, "Bash", &input), Expected::Refusal(OWN))
                .map(drop)
        },
    )?;
    if matches!(bench.fresh()?.denies("Write"), Ok(false)) {
        bench.case(Column::Pass, "an ordinary file is written", |scene| {
            let path = scene.path("notes.txt");
            write(scene, &path, Expected::Pass)
        })?;
    }
    bench.case(Column::Fault, "a link leads to the settings", |scene| {
        let link = scene.path("innocent");
        let target = scene.path(".claude");
        std::os::unix::fs::symlink(target, &link).map_err(Failure::file("make", &link))?;
        write(
            scene,
            &link.join("settings.local.json"),
            Expected::Refusal(OWN),
        )
    })?;
    Ok(bench.gate("own files", "what the run rests on"))
}

fn write(scene: &mut Scene, path: &Path, expected: Expected) -> Tried<()> {
    let input = json!({ "file_path": path.to_string_lossy(), "content": "x" });
    let sent = scene.pen.tool(None, "Write", &input);
    scene.hook(sent, expected).map(drop)
}

/// The artifact of the agent in turn, where it is a file.
pub fn artifacts(mut bench: Bench<'_>) -> Result<Gate, Failure> {
    let gate = |bench: Bench<'_>| bench.gate("artifacts", "what another agent leaves");
    let scene = bench.fresh()?;
    let (Ok(run), Ok(Some(agent))) = (scene.now(), scene.in_turn()) else {
        return Ok(gate(bench));
    };
    let leaves = scene.leaves_of(&run, agent.as_str());
    let paths = leaves
        .all()
        .into_iter()
        .filter_map(|name| scene.path_of(&run, name, None).ok()?);
    let Some(path) = paths.into_iter().next() else {
        return Ok(gate(bench));
    };
    bench.case(
        Column::Refusal,
        format!("the session writes {path}"),
        |scene| {
            let file = scene.path(&path);
            write(scene, &file, Expected::Refusal(&[Rule::ArtifactOwner]))
        },
    )?;
    bench.case(Column::Pass, format!("'{agent}' writes {path}"), |scene| {
        let worker = scene.begins(&agent, None)?;
        let input = json!({ "file_path": scene.path(&path).to_string_lossy(), "content": "x" });
        scene
            .hook(
                scene.pen.tool(Some(&worker), "Write", &input),
                Expected::Pass,
            )
            .map(drop)
    })?;
    bench.case(
        Column::Fault,
        format!("the session's shell writes {path}"),
        |scene| {
            let input = json!({ "command": format!("echo x > {path}") });
            let expected = Expected::Refusal(&[Rule::ArtifactOwner]);
            scene
                .hook(scene.pen.tool(None, "Bash", &input), expected)
                .map(drop)
        },
    )?;
    Ok(gate(bench))
}
