//! `workflow-report`: the phases as a list that people read.

use super::workflow::{Phase, Workflow};
use crate::file::Material;
use crate::markdown::escaped;

pub fn workflow_report(material: &Material<'_>) -> String {
    let workflow = Workflow::of(material);
    let current: Vec<String> = workflow
        .active()
        .map(|phase| escaped(phase.title()))
        .collect();
    let current = match current.is_empty() {
        true => "none".to_owned(),
        false => current.join(", "),
    };
    let error = workflow.error.as_deref();
    let error = error.map_or_else(String::new, |error| format!("{}\n\n", escaped(error)));
    let phases: String = workflow.phases.iter().map(item).collect();
    format!(
        "# Workflow Status: {}\n\nStatus: {} | Current Phase: {current}\n\n{error}## Phases\n\n{phases}",
        escaped(&material.run.task),
        workflow.status,
    )
}

fn item(phase: &Phase<'_>) -> String {
    let mark = if phase.is_done() { 'x' } else { ' ' };
    let made = escaped(&phase.deliverables.join(", "));
    let made = match made.is_empty() {
        true => made,
        false => format!(" → {made}"),
    };
    let error = phase.error();
    let error = error.map_or_else(String::new, |error| {
        format!(" — failed: {}", escaped(&error))
    });
    let (number, title) = (phase.number, escaped(phase.title()));
    format!("- [{mark}] Phase {number}: {title}{made}{error}\n")
}
