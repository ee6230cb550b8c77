//! What led here as JSON.

use engine::{CheckEnd, CommandEnd, Happened, MoveReason, Passage, Run};
use serde_json::{Value, json};

use crate::routed;

/// The stages that were left, then what happened in the current one.
pub(crate) fn causes(run: &Run) -> Value {
    let left = run.trail.iter().map(passage);
    let here = json!({
        "stage": run.position.stage.as_str(),
        "outcome": null,
        "along": null,
        "happened": run.position.happened.iter().map(happened).collect::<Value>(),
    });
    left.chain([here]).collect()
}

fn passage(passage: &Passage) -> Value {
    let Passage {
        stage,
        outcome,
        along,
        happened: all,
    } = passage;
    json!({
        "stage": stage.as_str(),
        "outcome": outcome,
        "along": reason(along),
        "happened": all.iter().map(happened).collect::<Value>(),
    })
}

fn reason(along: &MoveReason) -> Value {
    match along {
        MoveReason::Edge => json!("edge"),
        MoveReason::Full(counter) => json!({ "full": counter.as_str() }),
        MoveReason::Unapproved(artifact) => json!({ "unapproved": artifact.as_str() }),
        MoveReason::Interrupted => json!("interrupted"),
        MoveReason::StaleGate => json!("stale_gate"),
        MoveReason::Outgrown(route) => json!({ "outgrown": route.as_str() }),
    }
}

fn happened(happened: &Happened) -> Value {
    match happened {
        Happened::Worked {
            agent,
            step,
            outcome,
            left,
        } => json!({
            "kind": "worked",
            "agent": agent.as_str(),
            "step": step.as_ref().map(engine::StepId::as_str),
            "outcome": outcome.as_str(),
            "left": left.iter().map(|(name, content)| (name.to_string(), json!(content.to_string()))).collect::<Value>(),
        }),
        Happened::Failed {
            agent,
            step,
            fault,
            reason,
        } => json!({
            "kind": "failed",
            "agent": agent.as_ref().map(engine::AgentName::as_str),
            "step": step.as_ref().map(engine::StepId::as_str),
            "fault": fault.word(),
            "reason": reason,
        }),
        Happened::Checked { verdict, commands } => json!({
            "kind": "checked",
            "verdict": verdict.word(),
            "commands": commands.iter().map(command).collect::<Value>(),
        }),
        Happened::Routed(decision) => {
            let mut object = routed::json(decision);
            object["kind"] = "routed".into();
            object
        }
        Happened::Answered { by, choice, words } => {
            json!({ "kind": "answered", "by": by, "choice": choice.as_str(), "words": words })
        }
        Happened::Skipped {
            by,
            outcome,
            reason,
        } => json!({ "kind": "skipped", "by": by, "outcome": outcome.as_str(), "reason": reason }),
        Happened::Continued { by, words } => {
            json!({ "kind": "continued", "by": by, "words": words })
        }
        Happened::Reset { by, reason } => json!({ "kind": "reset", "by": by, "reason": reason }),
        Happened::Restored { by, reason } => {
            json!({ "kind": "restored", "by": by, "reason": reason })
        }
    }
}

fn command(command: &CommandEnd) -> Value {
    let exit = match command.ended {
        CheckEnd::Exit(code) => Some(code),
        CheckEnd::Signal(_)
        | CheckEnd::TimedOut
        | CheckEnd::CouldNotStart(_)
        | CheckEnd::EnvironmentLost(_)
        | CheckEnd::ProgramUnaccepted(_) => None,
    };
    json!({
        "argv": command.argv,
        "exit": exit,
        "passed": command.has_passed(),
        "lacks": command.lacks,
        "tail": command.tail,
    })
}
