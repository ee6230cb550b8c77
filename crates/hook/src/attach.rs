//! Binds a session to its run, and tells it where the run stands.

use std::fs;
use std::io::Write as _;

use engine::{Happening, Reply, SessionEvent, SessionId};
use hosts::Answer;
use runtime::caller::host;
use runtime::enrolment::{self, Enrolled};
use runtime::failure::Failure;
use runtime::transact::Decided;
use runtime::{adopted_elsewhere, shipping};

use super::guarded_session::Guarded;
use super::told_text;

/// Binds the session to the run, and tells it where the run stands.
pub(super) fn attach(
    guarded: &mut Guarded<'_, '_>,
    heir_of: Option<&SessionId>,
) -> Result<Answer, Failure> {
    let run = &guarded.opened.run().id;
    if let Some(adopted) = adopted_elsewhere::told(&guarded.workspace.state, run) {
        return Ok(Answer::for_person(format!(
            "gatewright: {adopted}; this session is not guarded"
        )));
    }
    let process = host::named_process(&guarded.workspace.context.environment)?;
    let decided = bind(guarded, process, heir_of)?;
    if let Reply::Refuse(_) = &decided.reply {
        let run = decided.opened.run();
        return Ok(Answer::for_person(format!(
            "gatewright: {} another session works on run {}; this session is not guarded",
            decided.rule.code(),
            run.id
        )));
    }
    give_run_id(guarded);
    shipping::wake(&guarded.workspace.state);
    told_text::note(&guarded.workspace.state, &guarded.session, &decided);
    let standing = views::session_prompt(&decided.opened.pipeline, decided.opened.run());
    let context = match &decided.reply {
        Reply::Inject(text) => format!("{text}\n\n{standing}"),
        Reply::Allow | Reply::Refuse(_) | Reply::Hold(_) | Reply::Done => standing,
    };
    Ok(Answer::for_model(context))
}

/// Binds the session in this process to the run.
pub(super) fn bind(
    guarded: &mut Guarded<'_, '_>,
    process: Option<engine::Process>,
    heir_of: Option<&SessionId>,
) -> Result<Decided, Failure> {
    let session = guarded.session.clone();
    let run = guarded.opened.run();
    let unverified_host = host::unverified_reason(&run.host, process.as_ref());
    let enrolled = Enrolled {
        session: session.clone(),
        run: run.id.clone(),
        process,
    };
    let decided = guarded.submit(Happening::Session(SessionEvent::Started {
        session,
        process,
        heir_of: heir_of.cloned(),
        unverified_host,
    }))?;
    if !matches!(decided.reply, Reply::Refuse(_)) {
        // Invariant: the file is durable before the host hears that the session is bound.
        enrolment::enrol(&guarded.workspace.state, &enrolled)
            .map_err(Failure::file("write to", guarded.workspace.state.folder()))?;
    }
    Ok(decided)
}

/// The shell of the session learns the run's id from a file that the host reads. Nothing depends on
/// it, so it may fail.
fn give_run_id(guarded: &Guarded<'_, '_>) {
    let Some(path) = &guarded.workspace.context.environment.env_file else {
        return;
    };
    let file = fs::OpenOptions::new().append(true).create(true).open(path);
    if let Ok(mut file) = file {
        let _ = writeln!(file, "export GATEWRIGHT_RUN={}", guarded.opened.run().id);
    }
}
