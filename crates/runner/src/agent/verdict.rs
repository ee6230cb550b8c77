//! What the end of a process says of the work: an exit code alone says nothing.

use engine::{Ending, Fault};
use hosts::agent_process::ReportedEnd;
use runtime::failure::Failure;

use super::choice::Runner;
use super::listener::Heard;
use super::process::Ended;

/// How the work ended. A program of agents can be sent back into its conversation; a script cannot.
pub fn ending(runner: Runner, heard: &Heard) -> Ending {
    match fault(runner, heard) {
        Some((fault, reason)) => Ending::Fault { fault, reason },
        None => match runner {
            Runner::Program(_) => Ending::Stopping {
                worked: heard.agent_output.used_a_tool,
            },
            // To run it was the work.
            Runner::Command | Runner::StandIn => Ending::Finished { worked: true },
        },
    }
}

/// What no worker can mend and no further try would: a person must log in first.
pub fn outside(runner: Runner, heard: &Heard) -> Option<Failure> {
    match (&heard.agent_output.end, heard.ended) {
        (Some(ReportedEnd::NotLoggedIn(reason)), Some(Ended::Exit(_))) => {
            let who = runner.word();
            let message = format!("{who} is not logged in: {reason}");
            Some(Failure::outside(message).hint(format!("log in to {who}, then do it again")))
        }
        _ => None,
    }
}

/// Was it asked for a conversation that it does not have? Then it ends before it begins.
pub fn is_gone(heard: &Heard) -> bool {
    let failed = matches!(heard.ended, Some(Ended::Exit(code)) if code != 0);
    let by_service = matches!(
        heard.agent_output.end,
        Some(ReportedEnd::NotLoggedIn(_) | ReportedEnd::Limited(_))
    );
    failed
        && !by_service
        && heard.agent_output.conversation_id.is_none()
        && !heard.agent_output.used_a_tool
}

fn fault(runner: Runner, heard: &Heard) -> Option<(Fault, String)> {
    let who = match runner {
        Runner::Program(program) => program.word(),
        Runner::Command => "the script",
        Runner::StandIn => "the stand-in",
    };
    let crashed = |reason: String| Some((Fault::Crashed, reason));
    let timeout = |reason: &str| Some((Fault::Timeout, format!("{who} {reason}")));
    match heard.ended {
        None => crashed(heard.last_words.clone()),
        Some(Ended::TimedOut) => timeout("took longer than its time limit"),
        Some(Ended::Silent) => timeout("said nothing for longer than its heartbeat"),
        Some(Ended::Stopped) => crashed(format!("{who} was stopped by a signal to gatewright")),
        Some(Ended::Unwanted) => crashed(format!("{who} was not wanted any more")),
        Some(Ended::Cut) if heard.unguarded => crashed(format!(
            "{who} used a tool, and its hooks never came: it is not guarded"
        )),
        Some(Ended::Cut) => crashed(other_conversation(who, heard)),
        Some(Ended::Signal(signal)) => crashed(failed(who, &format!("by signal {signal}"), heard)),
        Some(Ended::Exit(code)) => match (runner, &heard.agent_output.end, code) {
            (Runner::Command | Runner::StandIn, _, 0) => None,
            (Runner::Program(_), Some(ReportedEnd::Done), 0)
                if heard.agent_output.conversation_id.is_some() =>
            {
                None
            }
            (Runner::Program(_), Some(ReportedEnd::Limited(reason)), _) => {
                Some((Fault::Limited, format!("{who} is told to wait: {reason}")))
            }
            _ => crashed(failed(who, &format!("with exit code {code}"), heard)),
        },
    }
}

/// `resume` may take somebody else's conversation or begin a new one, and say that all is well.
fn other_conversation(who: &str, heard: &Heard) -> String {
    let asked = heard.expected.as_deref().unwrap_or("none");
    let began = heard
        .agent_output
        .conversation_id
        .as_deref()
        .unwrap_or("none");
    format!("{who} was asked for conversation {asked} and began {began}")
}

fn failed(who: &str, how: &str, heard: &Heard) -> String {
    let ended = heard
        .agent_output
        .end
        .as_ref()
        .and_then(ReportedEnd::reason);
    let said = ended.or(heard.agent_output.last_error.as_deref());
    let said = said.unwrap_or(&heard.last_words);
    let unsaid = match (&heard.agent_output.end, &heard.agent_output.conversation_id) {
        (None, Some(_)) => " before it said that it was done",
        _ => "",
    };
    if said.is_empty() {
        format!("{who} ended {how}{unsaid}")
    } else {
        format!("{who} ended {how}{unsaid}: {said}")
    }
}

#[cfg(test)]
mod tests {
    use hosts::Program;
    use hosts::agent_process::AgentOutput;

    use super::*;

    const CODEX: Runner = Runner::Program(Program::Codex);

    fn heard(ended: Option<Ended>, end: Option<ReportedEnd>) -> Heard {
        let mut agent_output = AgentOutput::default();
        agent_output.conversation_id = Some("b".to_owned());
        agent_output.used_a_tool = true;
        agent_output.end = end;
        Heard {
            ended,
            expected: Some("a".to_owned()),
            agent_output,
            last_words: "oh".to_owned(),
            unguarded: false,
        }
    }

    #[track_caller]
    fn check(runner: Runner, heard: &Heard, expected: &str) {
        let told = match ending(runner, heard) {
            Ending::Fault { fault, reason } => format!("{}: {reason}", fault.word()),
            Ending::Stopping { worked } => format!("stopping, worked {worked}"),
            Ending::Finished { worked } => format!("finished, worked {worked}"),
        };
        assert_eq!(told, expected);
    }

    #[test]
    fn work_is_done_only_when_it_says_so_and_exits_well() {
        let (done, failed) = (
            Some(ReportedEnd::Done),
            Some(ReportedEnd::Failed("no model".to_owned())),
        );
        let exit = |code| Some(Ended::Exit(code));
        check(
            CODEX,
            &heard(exit(0), done.clone()),
            "stopping, worked true",
        );
        check(
            CODEX,
            &heard(exit(0), None),
            "crashed: codex ended with exit code 0 before it said that it was done: oh",
        );
        check(
            CODEX,
            &heard(exit(3), done.clone()),
            "crashed: codex ended with exit code 3: oh",
        );
        check(
            CODEX,
            &heard(exit(0), failed.clone()),
            "crashed: codex ended with exit code 0: no model",
        );
        check(
            CODEX,
            &heard(Some(Ended::Signal(9)), done.clone()),
            "crashed: codex ended by signal 9: oh",
        );
        let mut nameless = heard(exit(0), done.clone());
        nameless.agent_output.conversation_id = None;
        check(
            CODEX,
            &nameless,
            "crashed: codex ended with exit code 0: oh",
        );
        check(
            Runner::Command,
            &heard(exit(0), None),
            "finished, worked true",
        );
        let mut silent = heard(exit(1), None);
        silent.last_words.clear();
        silent.agent_output.conversation_id = None;
        check(
            Runner::Command,
            &silent,
            "crashed: the script ended with exit code 1",
        );
    }

    #[test]
    fn what_was_ended_by_us_has_its_own_reason() {
        for (ended, expected) in [
            (None, "crashed: oh"),
            (
                Some(Ended::TimedOut),
                "timeout: codex took longer than its time limit",
            ),
            (
                Some(Ended::Silent),
                "timeout: codex said nothing for longer than its heartbeat",
            ),
            (
                Some(Ended::Stopped),
                "crashed: codex was stopped by a signal to gatewright",
            ),
            (
                Some(Ended::Cut),
                "crashed: codex was asked for conversation a and began b",
            ),
        ] {
            check(CODEX, &heard(ended, Some(ReportedEnd::Done)), expected);
        }
    }
}
