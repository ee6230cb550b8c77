//! Who starts a worker: the session, or `gatewright step`.

use engine::{AgentName, Pipeline, Run, Turn, Work, WorkerSettings};

/// Does another program than the session's host do the work that this agent would do now?
pub fn is_run_elsewhere(pipeline: &Pipeline, run: &Run, agent: &AgentName) -> bool {
    let settings = settings(pipeline, run, agent);
    let runner = settings.and_then(|settings| settings.runner.as_ref());
    !run.session_starts(runner)
}

fn settings<'a>(
    pipeline: &'a Pipeline,
    run: &Run,
    agent: &AgentName,
) -> Option<&'a WorkerSettings> {
    let stage = pipeline.stage(&run.position.stage)?;
    match &stage.work {
        Work::Agent(work) => Some(&work.settings),
        Work::Steps(work) => Some(&work.settings),
        Work::Review(work) => match run.panels.get(&stage.name)?.turn {
            Turn::Reviewing { reviewer } => {
                let member = work.panel.get(reviewer as usize);
                member
                    .filter(|member| member.agent == *agent)
                    .map(|member| &member.settings)
            }
            Turn::Fixing { .. } if work.owner == *agent => Some(&work.owner_settings),
            Turn::Fixing { .. } | Turn::Spent => None,
        },
        Work::Open(_) | Work::Check(_) | Work::Ask(_) | Work::Route(_) | Work::End(_) => None,
    }
}
