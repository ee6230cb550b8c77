//! What only a person may do, and the settings in which our hooks stand.

use engine::{Act, Rule, Standing};
use runtime::failure::Failure;
use serde_json::json;

use super::super::exchange::Expected;
use super::super::folder;
use super::super::process::Ended;
use super::super::scene::Scene;
use super::super::trouble::{Tried, insist};
use super::super::wire::Sent;
use super::{Bench, Column, Gate};
use crate::install::host::PLACES;

pub fn commands(mut bench: Bench<'_>) -> Result<Gate, Failure> {
    for line in [
        "gatewright cancel --reason enough",
        "gatewright bypass --for 30m --reason hurry",
        "gatewright skip --reason later",
    ] {
        let what = format!("the session runs `{line}`");
        bench.refuses(what, &[Rule::PersonOnly], |scene| bash(scene, line))?;
    }
    if matches!(bench.fresh()?.denies("Bash"), Ok(false)) {
        let line = "gatewright status";
        let what = format!("the session runs `{line}`");
        bench.answers(Column::Pass, what, Expected::Pass, |scene| {
            bash(scene, line)
        })?;
    }
    let mut typed = bench.fresh()?.pipeline.definition().commands.iter();
    let cancel = typed.find(|(_, act)| **act == Act::Cancel);
    if let Some(name) = cancel.map(|(name, _)| name.to_string()) {
        bench.case(Column::Pass, format!("a person types /{name}"), |scene| {
            scene.pen.prompt += 1;
            scene.hook(scene.pen.command(&name, "enough"), Expected::Pass)?;
            insist(is_cancelled(scene)?, || {
                "the run was not cancelled".to_owned()
            })
        })?;
    }
    let what = "an agent's shell runs `gatewright cancel` anyway";
    bench.case(Column::Fault, what, |scene| {
        let run = scene.now()?.id;
        let got = scene.command(&["cancel", run.as_str(), "--reason", "enough"]);
        let refused = got.ended != Ended::Code(0) && !is_cancelled(scene)?;
        insist(refused, || "the run was cancelled".to_owned())
    })?;
    Ok(bench.gate("people", "commands for people only"))
}

fn bash(scene: &Scene, line: &str) -> Sent {
    scene.pen.tool(None, "Bash", &json!({ "command": line }))
}

fn is_cancelled(scene: &Scene) -> Tried<bool> {
    Ok(matches!(scene.now()?.standing, Standing::Cancelled { .. }))
}

pub fn settings(mut bench: Bench<'_>) -> Result<Gate, Failure> {
    let off = "{ \"disableAllHooks\": true }\n";
    for (column, what, text) in [
        (
            Column::Refusal,
            "the hooks are removed from the settings",
            "{}\n",
        ),
        (Column::Refusal, "all hooks are disabled", off),
        (Column::Fault, "the settings are damaged", "{"),
    ] {
        bench.case(column, what, |scene| {
            for file in scene.settings_files() {
                folder::write(&file, text.as_bytes())?;
            }
            changed(scene, Expected::Refusal(&[]))
        })?;
    }
    bench.case(Column::Pass, "another setting changes", |scene| {
        for file in scene.settings_files() {
            let text = std::fs::read_to_string(&file).map_err(Failure::file("read", &file))?;
            let more = text.replacen('{', "{ \"cleanupPeriodDays\": 7,", 1);
            folder::write(&file, more.as_bytes())?;
        }
        changed(scene, Expected::Pass)
    })?;
    Ok(bench.gate("settings", "the hooks themselves"))
}

fn changed(scene: &mut Scene, expected: Expected) -> Tried<()> {
    let file = scene.path(PLACES.local);
    scene
        .hook(scene.pen.config_changed(&file), expected)
        .map(drop)
}
