//! Who works without having been admitted, and the other ways to start somebody.

use engine::Rule;
use serde_json::json;

use super::super::exchange::Expected;
use super::{Bench, Column, Gate};
use crate::failure::Failure;

pub fn unadmitted(mut bench: Bench<'_>) -> Result<Gate, Failure> {
    bench.case(
        Column::Refusal,
        "an agent that nobody admitted uses a tool",
        |scene| {
            let stranger = scene.worker("Explore", None);
            let input = scene.input_of("Write");
            let sent = scene.pen.tool(Some(&stranger), "Write", &input);
            scene
                .hook(sent, Expected::Refusal(&[Rule::Unadmitted]))
                .map(drop)
        },
    )?;
    bench.case(
        Column::Refusal,
        "an agent that nobody admitted asks for another",
        |scene| {
            let stranger = scene.worker("Explore", None);
            let mut fields: serde_json::Value =
                serde_json::from_slice(&scene.pen.agent(&stranger).bytes).unwrap_or_default();
            fields["agent_id"] = stranger.id.clone().into();
            fields["agent_type"] = "Explore".into();
            let mut sent = scene.pen.agent(&stranger);
            sent.bytes = fields.to_string().into_bytes();
            sent.what.push_str(" by 'Explore'");
            scene
                .hook(sent, Expected::Refusal(&[Rule::Unadmitted]))
                .map(drop)
        },
    )?;
    if let Ok(Some(agent)) = bench.fresh()?.in_turn() {
        bench.case(
            Column::Pass,
            format!("'{agent}' was admitted and uses a tool"),
            |scene| {
                let worker = scene.begins(&agent, None)?;
                scene.uses_a_tool(&worker).map(drop)
            },
        )?;
    }
    bench.case(
        Column::Fault,
        "an agent ends that nobody admitted: nothing moves",
        |scene| {
            scene.stays(|scene| {
                let stranger = scene.worker("Explore", None);
                scene.hook(scene.pen.agent_began(&stranger), Expected::Answer)?;
                scene.hook(
                    scene.pen.agent_stops(&stranger, Some("Done.")),
                    Expected::Pass,
                )?;
                let returned = scene.pen.agent_returned(&stranger, Some("Done."), 3);
                scene.hook(returned, Expected::Answer).map(drop)
            })
        },
    )?;
    Ok(bench.gate("admission", "tools of agents that nobody admitted"))
}

pub fn other_doors(mut bench: Bench<'_>) -> Result<Gate, Failure> {
    bench.case(Column::Refusal, "a workflow would start agents", |scene| {
        let input = json!({ "script": "return await agent('do it')" });
        let sent = scene.pen.tool(None, "Workflow", &input);
        scene
            .hook(sent, Expected::Refusal(&[Rule::OtherDoor]))
            .map(drop)
    })?;
    bench.case(
        Column::Refusal,
        "another agent program in the shell",
        |scene| {
            let input = json!({ "command": "claude -p 'do it'" });
            let sent = scene.pen.tool(None, "Bash", &input);
            scene
                .hook(sent, Expected::Refusal(&[Rule::OtherDoor]))
                .map(drop)
        },
    )?;
    bench.case(
        Column::Refusal,
        "a message to somebody who does not work here",
        |scene| {
            let input = json!({ "to": "astranger", "summary": "x", "message": "go on" });
            let sent = scene.pen.tool(None, "SendMessage", &input);
            scene
                .hook(sent, Expected::Refusal(&[Rule::Unadmitted]))
                .map(drop)
        },
    )?;
    if let Ok(Some(tool)) = bench.fresh()?.free_tool() {
        bench.case(Column::Pass, "an ordinary tool", |scene| {
            let input = scene.input_of(tool);
            scene
                .hook(scene.pen.tool(None, tool, &input), Expected::Pass)
                .map(drop)
        })?;
    }
    bench.case(
        Column::Fault,
        "an agent is asked for whose name is none",
        |scene| {
            let nobody = scene.worker("?", None);
            let rules = &[Rule::AgentOutOfTurn];
            scene
                .hook(scene.pen.agent(&nobody), Expected::Refusal(rules))
                .map(drop)
        },
    )?;
    Ok(bench.gate("doors", "other ways to start an agent"))
}
