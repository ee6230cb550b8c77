//! Agents without admission, and other ways to start an agent.

use engine::Rule;
use runtime::failure::Failure;
use serde_json::json;

use super::super::exchange::Expected;
use super::{Column, Gate, GateTester};

/// Agents of the host that no pipeline names.
const STRANGER: &str = "general-purpose";

pub(super) fn unadmitted(mut tester: GateTester<'_>) -> Result<Gate, Failure> {
    let rules = &[Rule::Unadmitted];
    let what = "an agent without admission uses a tool";
    tester.refuses(what, rules, |simulation| {
        let stranger = simulation.worker(STRANGER, None);
        let input = simulation.input_of("Write");
        simulation.payloads.tool(Some(&stranger), "Write", &input)
    })?;
    let what = "an agent without admission requests another agent";
    tester.refuses(what, rules, |simulation| {
        let stranger = simulation.worker(STRANGER, None);
        let input = json!({ "description": "x", "prompt": "x", "subagent_type": STRANGER });
        simulation.payloads.tool(Some(&stranger), "Agent", &input)
    })?;
    if let Ok(Some(agent)) = tester.fresh()?.next_agent() {
        let what = format!("'{agent}' was admitted and uses a tool");
        tester.case(Column::Pass, what, |simulation| {
            let mut worker = simulation.begins(&agent, None)?;
            simulation.uses_a_tool(&mut worker).map(drop)
        })?;
    }
    let what = "an agent without admission ends: the run does not move";
    tester.case(Column::Fault, what, |simulation| {
        simulation.must_not_move(|simulation| {
            let stranger = simulation.worker(STRANGER, None);
            simulation.hook(simulation.payloads.agent_began(&stranger), Expected::Answer)?;
            simulation.stops(&stranger, Some("Done."), Expected::Pass)?;
            let returned = simulation
                .payloads
                .agent_returned(&stranger, Some("Done."), 3);
            simulation.hook(returned, Expected::Answer).map(drop)
        })
    })?;
    Ok(tester.gate("admission", "tools of agents without admission"))
}

pub(super) fn other_ways(mut tester: GateTester<'_>) -> Result<Gate, Failure> {
    let rules = &[Rule::BypassAttempt];
    tester.refuses("a workflow would start agents", rules, |simulation| {
        let input = json!({ "script": "return await agent('do it')" });
        simulation.payloads.tool(None, "Workflow", &input)
    })?;
    tester.refuses("another agent program in the shell", rules, |simulation| {
        let input = json!({ "command": "claude -p 'do it'" });
        simulation.payloads.tool(None, "Bash", &input)
    })?;
    let what = "a message to an unknown agent";
    tester.refuses(what, &[Rule::Unadmitted], |simulation| {
        let input = json!({ "to": "astranger", "summary": "x", "message": "go on" });
        simulation.payloads.tool(None, "SendMessage", &input)
    })?;
    if let Ok(Some(tool)) = tester.fresh()?.free_tool() {
        let what = "an ordinary tool";
        tester.answers(Column::Pass, what, Expected::Pass, |simulation| {
            simulation
                .payloads
                .tool(None, tool, &simulation.input_of(tool))
        })?;
    }
    let what = "an agent with an invalid name is requested";
    let refused = Expected::Refusal(&[Rule::AgentOutOfTurn]);
    tester.answers(Column::Fault, what, refused, |simulation| {
        let nobody = simulation.worker("?", None);
        simulation.payloads.agent(&nobody)
    })?;
    Ok(tester.gate("doors", "other ways to start an agent"))
}
