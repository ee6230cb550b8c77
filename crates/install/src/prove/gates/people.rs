//! Commands for people only, and the settings with our hooks.

use engine::{Act, Rule, Standing};
use runtime::failure::Failure;
use serde_json::json;

use super::super::case_error::{CaseOutcome, ensure};
use super::super::exchange::Expected;
use super::super::hook_process::ProcessEnd;
use super::super::payloads::HookPayload;
use super::super::sandbox;
use super::super::simulation::Simulation;
use super::{Column, Gate, GateTester};
use crate::host::PLACES;

pub(super) fn commands(mut tester: GateTester<'_>) -> Result<Gate, Failure> {
    for line in [
        "gatewright cancel --reason enough",
        "gatewright bypass --for 30m --reason hurry",
        "gatewright skip --reason later",
    ] {
        let what = format!("the session runs `{line}`");
        tester.refuses(what, &[Rule::PersonOnly], |simulation| {
            bash(simulation, line)
        })?;
    }
    if matches!(tester.fresh()?.denies("Bash"), Ok(false)) {
        let line = "gatewright status";
        let what = format!("the session runs `{line}`");
        tester.answers(Column::Pass, what, Expected::Pass, |simulation| {
            bash(simulation, line)
        })?;
    }
    let mut typed = tester.fresh()?.pipeline.definition().commands.iter();
    let cancel = typed.find(|(_, act)| **act == Act::Cancel);
    if let Some(name) = cancel.map(|(name, _)| name.to_string()) {
        tester.case(
            Column::Pass,
            format!("a person types /{name}"),
            |simulation| {
                simulation.payloads.prompt += 1;
                simulation.hook(simulation.payloads.command(&name, "enough"), Expected::Pass)?;
                ensure(is_cancelled(simulation)?, || {
                    "the run was not cancelled".to_owned()
                })
            },
        )?;
    }
    let what = "an agent's shell runs `gatewright cancel` anyway";
    tester.case(Column::Fault, what, |simulation| {
        let run = simulation.now()?.id;
        let output = simulation.command(&["cancel", run.as_str(), "--reason", "enough"]);
        let refused = output.ended != ProcessEnd::Code(0) && !is_cancelled(simulation)?;
        ensure(refused, || "the run was cancelled".to_owned())
    })?;
    Ok(tester.gate("people", "commands for people only"))
}

fn bash(simulation: &Simulation, line: &str) -> HookPayload {
    simulation
        .payloads
        .tool(None, "Bash", &json!({ "command": line }))
}

fn is_cancelled(simulation: &Simulation) -> CaseOutcome<bool> {
    Ok(matches!(
        simulation.now()?.standing,
        Standing::Cancelled { .. }
    ))
}

pub(super) fn settings(mut tester: GateTester<'_>) -> Result<Gate, Failure> {
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
        tester.case(column, what, |simulation| {
            for file in simulation.settings_files() {
                sandbox::write(&file, text.as_bytes())?;
            }
            changed(simulation, Expected::Refusal(&[]))
        })?;
    }
    tester.case(Column::Pass, "another setting changes", |simulation| {
        for file in simulation.settings_files() {
            let text = std::fs::read_to_string(&file).map_err(Failure::file("read", &file))?;
            let more = text.replacen('{', "{ \"cleanupPeriodDays\": 7,", 1);
            sandbox::write(&file, more.as_bytes())?;
        }
        changed(simulation, Expected::Pass)
    })?;
    Ok(tester.gate("settings", "the hooks themselves"))
}

fn changed(simulation: &mut Simulation, expected: Expected) -> CaseOutcome<()> {
    let file = simulation.path(PLACES.local);
    simulation
        .hook(simulation.payloads.config_changed(&file), expected)
        .map(drop)
}
