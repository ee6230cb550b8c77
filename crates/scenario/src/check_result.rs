//! Checks in a scenario: the commands end as the scenario says.

use engine::{
    CheckEnd, CheckResult, Commands, EngineEvent, Happening, Pipeline, Run, StageName, TreeAround,
    Work,
};

use super::step::CheckHow;
use super::work_result::{Unplayable, unplayable};

/// The event after the commands of this stage, or of the current one, have run.
pub(crate) fn checks_ran(
    pipeline: &Pipeline,
    run: &Run,
    stage: Option<&StageName>,
    how: CheckHow,
    tree: TreeAround,
) -> Result<Happening, Unplayable> {
    let present = &run.position.stage;
    let stage = stage.unwrap_or(present);
    let Some(Work::Check(work)) = pipeline.stage(stage).map(|stage| &stage.work) else {
        let hint = String::from("name the stage whose check ran late: `check of STAGE …`");
        return unplayable(format!("{stage} is not a check"), hint);
    };
    if how == CheckHow::PrintsFailure && work.fails_on.is_none() {
        let hint = String::from("only a check with `fails_on` reads the output");
        return unplayable(format!("{stage} has no `fails_on`"), hint);
    }
    let commands = match &work.commands {
        Commands::Fixed(commands) => commands.clone(),
        Commands::Approved(_) => vec![vec![String::from("approved-command")]],
    };
    // A check of another stage started in an earlier visit.
    let visit = if stage == present {
        run.position.visit
    } else {
        0
    };
    let results = commands.into_iter().map(|argv| result(argv, how)).collect();
    Ok(Happening::Engine(EngineEvent::ChecksRan {
        stage: stage.clone(),
        visit,
        results,
        tree,
    }))
}

fn result(argv: Vec<String>, how: CheckHow) -> CheckResult {
    let ended = match how {
        CheckHow::Passes | CheckHow::ChangesTree | CheckHow::PrintsFailure => CheckEnd::Exit(0),
        CheckHow::Fails => CheckEnd::Exit(1),
        CheckHow::TimesOut => CheckEnd::TimedOut,
        CheckHow::CannotStart => CheckEnd::CouldNotStart(String::from("it is not installed")),
    };
    let matched_failure = how == CheckHow::PrintsFailure;
    CheckResult {
        argv,
        ended,
        duration_ms: 1,
        tail: String::new(),
        matched_failure,
        lacks: None,
        programs: Vec::new(),
    }
}
