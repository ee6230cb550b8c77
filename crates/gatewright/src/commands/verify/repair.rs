//! `gatewright verify --repair`: copies intact runs into a new store, and reports the lost ones.

use std::fmt::Write as _;

use runtime::context::Context;
use runtime::failure::{Failure, FailureKind};
use runtime::workspace::Workspace;
use runtime::{clock, run_audit};
use serde_json::{Value, json};
use store::{Backend as _, Salvaged};

use super::verify;
use crate::exit::Exit;
use crate::output::Output;

/// Repairs the store, if it needs it.
pub(super) fn repair(context: &Context, output: &mut Output) -> Result<Exit, Failure> {
    if is_sound(context)? {
        let text = "the store is intact; there is nothing to repair\n".to_owned();
        output.facts(|_| text, || json!({ "repaired": false }))?;
        return Ok(Exit::Success);
    }
    let salvaged = store::salvage(context.state()?.folder(), clock::now(), &run_audit::compile)?;
    output.facts(|_| salvaged_text(&salvaged), || salvaged_json(&salvaged))?;
    Ok(Exit::Success)
}

/// Is every run whole, and is the store not marked as damaged?
fn is_sound(context: &Context) -> Result<bool, Failure> {
    let mut workspace = match Workspace::if_exists(context) {
        Ok(Some(workspace)) => workspace,
        Ok(None) => return Ok(true),
        Err(failure) if failure.kind == FailureKind::Store => return Ok(false),
        Err(failure) => return Err(failure),
    };
    if workspace.store.damage()?.is_some() {
        return Ok(false);
    }
    match verify(&mut workspace, &[]) {
        Ok(findings) => Ok(findings.is_intact()),
        Err(failure) if failure.kind == FailureKind::Store => Ok(false),
        Err(failure) => Err(failure),
    }
}

fn salvaged_text(salvaged: &Salvaged) -> String {
    let mut text = format!("{} runs are in the new store\n", salvaged.runs);
    for loss in &salvaged.losses {
        let why = views::line(&loss.why);
        let _ = match loss.kept {
            0 => writeln!(text, "{} is lost: {why}", loss.run),
            kept => writeln!(
                text,
                "{} kept its first {kept} entries; the {} after them are lost: {why}",
                loss.run, loss.lost
            ),
        };
    }
    if salvaged.lost_contents > 0 {
        let _ = writeln!(
            text,
            "{} contents could not be read",
            salvaged.lost_contents
        );
    }
    if let Some(aside) = &salvaged.aside {
        let _ = writeln!(text, "the damaged store is in {}", aside.display());
    }
    text
}

fn salvaged_json(salvaged: &Salvaged) -> Value {
    let loss = |loss: &store::Loss| {
        json!({
            "run": loss.run.as_str(),
            "kept": loss.kept,
            "lost": loss.lost,
            "why": loss.why,
        })
    };
    json!({
        "repaired": true,
        "runs": salvaged.runs,
        "losses": salvaged.losses.iter().map(loss).collect::<Vec<_>>(),
        "lost_contents": salvaged.lost_contents,
        "kept_in": salvaged.aside.as_ref().map(|path| path.display().to_string()),
    })
}
