//! Who works without having been admitted, and the other ways to start somebody.

use engine::Rule;
use runtime::failure::Failure;
use serde_json::json;

use super::super::exchange::Expected;
use super::{Bench, Column, Gate};

/// Agents of the host that no pipeline of ours names.
const STRANGER: &str = "Explore";

pub fn unadmitted(mut bench: Bench<'_>) -> Result<Gate, Failure> {
    let rules = &[Rule::Unadmitted];
    let what = "an agent without admission uses a tool";
    bench.refuses(what, rules, |scene| {
        let stranger = scene.worker(STRANGER, None);
        let input = scene.input_of("Write");
        scene.pen.tool(Some(&stranger), "Write", &input)
    })?;
    let what = "an agent without admission requests another agent";
    bench.refuses(what, rules, |scene| {
        let stranger = scene.worker(STRANGER, None);
        let input = json!({ "description": "x", "prompt": "x", "subagent_type": STRANGER });
        scene.pen.tool(Some(&stranger), "Agent", &input)
    })?;
    if let Ok(Some(agent)) = bench.fresh()?.in_turn() {
        let what = format!("'{agent}' was admitted and uses a tool");
        bench.case(Column::Pass, what, |scene| {
            let mut worker = scene.begins(&agent, None)?;
            scene.uses_a_tool(&mut worker).map(drop)
        })?;
    }
    let what = "an agent without admission ends: the run does not move";
    bench.case(Column::Fault, what, |scene| {
        scene.stays(|scene| {
            let stranger = scene.worker(STRANGER, None);
            scene.hook(scene.pen.agent_began(&stranger), Expected::Answer)?;
            scene.stops(&stranger, Some("Done."), Expected::Pass)?;
            let returned = scene.pen.agent_returned(&stranger, Some("Done."), 3);
            scene.hook(returned, Expected::Answer).map(drop)
        })
    })?;
    Ok(bench.gate("admission", "tools of agents without admission"))
}

pub fn other_ways(mut bench: Bench<'_>) -> Result<Gate, Failure> {
    let rules = &[Rule::BypassAttempt];
    bench.refuses("a workflow would start agents", rules, |scene| {
        let input = json!({ "script": "return await agent('do it')" });
        scene.pen.tool(None, "Workflow", &input)
    })?;
    bench.refuses("another agent program in the shell", rules, |scene| {
        let input = json!({ "command": "claude -p 'do it'" });
        scene.pen.tool(None, "Bash", &input)
    })?;
    let what = "a message to an unknown agent";
    bench.refuses(what, &[Rule::Unadmitted], |scene| {
        let input = json!({ "to": "astranger", "summary": "x", "message": "go on" });
        scene.pen.tool(None, "SendMessage", &input)
    })?;
    if let Ok(Some(tool)) = bench.fresh()?.free_tool() {
        let what = "an ordinary tool";
        bench.answers(Column::Pass, what, Expected::Pass, |scene| {
            scene.pen.tool(None, tool, &scene.input_of(tool))
        })?;
    }
    let what = "an agent with an invalid name is requested";
    let refused = Expected::Refusal(&[Rule::AgentOutOfTurn]);
    bench.answers(Column::Fault, what, refused, |scene| {
        let nobody = scene.worker("?", None);
        scene.pen.agent(&nobody)
    })?;
    Ok(bench.gate("doors", "other ways to start an agent"))
}
