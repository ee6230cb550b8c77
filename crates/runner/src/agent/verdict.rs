//! Judges the end of a process. An exit code alone proves nothing.

use engine::{Ending, Fault};
use hosts::agent_process::{ReportedEnd, ReportedLimit};
use runtime::failure::Failure;

use super::choice::Runner;
use super::listener::ProcessReport;
use super::process::ProcessEnd;

/// How the work ended. An agent can be sent back into its conversation; a script cannot.
pub fn ending(runner: Runner, report: &ProcessReport) -> Ending {
    match fault(runner, report) {
        Some((fault, reason)) => Ending::Fault { fault, reason },
        None => match runner {
            Runner::Program(_) => Ending::Stopping {
                worked: report.agent_output.used_a_tool,
            },
            // The run of the script was the work.
            Runner::Command | Runner::StandIn => Ending::Finished { worked: true },
        },
    }
}

/// A failure that no worker can fix and no retry would: a person must log in first.
pub fn outside(runner: Runner, report: &ProcessReport) -> Option<Failure> {
    let (Some(ReportedEnd::NotLoggedIn(reason)), Some(ProcessEnd::Exit(_))) =
        (&report.agent_output.end, report.ended)
    else {
        return None;
    };
    let who = runner.word();
    let message = format!("{who} is not logged in: {reason}");
    Some(Failure::environment(message).hint(format!("log in to {who}, then retry")))
}

/// What the service of an agent said when it asked to wait.
pub fn limit(report: &ProcessReport) -> Option<&ReportedLimit> {
    match (&report.agent_output.end, report.ended) {
        (Some(ReportedEnd::Limited(limit)), Some(ProcessEnd::Exit(_))) => Some(limit),
        _ => None,
    }
}

/// Did the program end its turn at the cost that we allowed? Without any cost the next process would end in the same way.
pub fn has_passed_budget(report: &ProcessReport) -> bool {
    let said = matches!(report.agent_output.end, Some(ReportedEnd::OverBudget(_)));
    let exited = matches!(report.ended, Some(ProcessEnd::Exit(_)));
    said && exited && report.agent_output.usage.cost_cents > 0
}

/// Did the program not find the conversation that it had to resume? Then it ends before it starts
/// to work.
pub fn is_gone(report: &ProcessReport) -> bool {
    let failed = matches!(report.ended, Some(ProcessEnd::Exit(code)) if code != 0);
    let by_service = matches!(
        report.agent_output.end,
        Some(
            ReportedEnd::NotLoggedIn(_)
                | ReportedEnd::Limited(_)
                | ReportedEnd::OverBudget(_)
                | ReportedEnd::DoneOverBudget
        )
    );
    failed
        && !by_service
        && report.agent_output.conversation_id.is_none()
        && !report.agent_output.used_a_tool
}

fn fault(runner: Runner, report: &ProcessReport) -> Option<(Fault, String)> {
    let who = match runner {
        Runner::Program(program) => program.word(),
        Runner::Command => "the script",
        Runner::StandIn => "the stand-in",
    };
    let crashed = |reason: String| Some((Fault::Crashed, reason));
    let timeout = |reason: &str| Some((Fault::Timeout, format!("{who} {reason}")));
    match report.ended {
        None => crashed(report.last_error_line.clone()),
        Some(ProcessEnd::TimedOut) => timeout("took longer than its time limit"),
        Some(ProcessEnd::Silent) => timeout("printed nothing for longer than its heartbeat"),
        Some(ProcessEnd::Stopped) => {
            crashed(format!("{who} was stopped by a signal to gatewright"))
        }
        Some(ProcessEnd::NoLongerNeeded) => crashed(format!("the run did not need {who} any more")),
        Some(ProcessEnd::EndedByReader) if report.over_budget => {
            crashed(format!("{who} was ended: the budget is used up"))
        }
        Some(ProcessEnd::EndedByReader) if report.unguarded => crashed(format!(
            "{who} used a tool before any of its hooks called gatewright: it is not guarded"
        )),
        Some(ProcessEnd::EndedByReader) => crashed(other_conversation(who, report)),
        Some(ProcessEnd::Signal(signal)) => {
            crashed(failed(who, &format!("by signal {signal}"), report))
        }
        Some(ProcessEnd::Exit(code)) => match (runner, &report.agent_output.end, code) {
            (Runner::Command | Runner::StandIn, _, 0) => None,
            (Runner::Program(_), Some(ReportedEnd::Done), 0)
                if report.agent_output.conversation_id.is_some() =>
            {
                None
            }
            // Its program calls it a failure.
            (Runner::Program(_), Some(ReportedEnd::DoneOverBudget), _)
                if report.agent_output.conversation_id.is_some() =>
            {
                None
            }
            (Runner::Program(_), Some(ReportedEnd::Limited(limit)), _) => {
                let reason = &limit.reason;
                Some((Fault::Limited, format!("{who} must wait: {reason}")))
            }
            (Runner::Command | Runner::StandIn, _, _)
            | (
                Runner::Program(_),
                Some(
                    ReportedEnd::Done
                    | ReportedEnd::Failed(_)
                    | ReportedEnd::NotLoggedIn(_)
                    | ReportedEnd::OverBudget(_)
                    | ReportedEnd::DoneOverBudget,
                )
                | None,
                _,
            ) => crashed(failed(who, &format!("with exit code {code}"), report)),
        },
    }
}

/// `resume` of a program may take another conversation or start a new one, and still report
/// success.
fn other_conversation(who: &str, report: &ProcessReport) -> String {
    let asked = report.expected.as_deref().unwrap_or("none");
    let began = report
        .agent_output
        .conversation_id
        .as_deref()
        .unwrap_or("none");
    format!("{who} was asked for conversation {asked} and started {began}")
}

fn failed(who: &str, how: &str, report: &ProcessReport) -> String {
    let ended = report
        .agent_output
        .end
        .as_ref()
        .and_then(ReportedEnd::reason);
    let said = ended.or(report.agent_output.last_error.as_deref());
    let said = said.unwrap_or(&report.last_error_line);
    let unsaid = match (
        &report.agent_output.end,
        &report.agent_output.conversation_id,
    ) {
        (None, Some(_)) => " before it reported that it was done",
        (Some(_), _) | (None, None) => "",
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

    fn report(ended: Option<ProcessEnd>, end: Option<ReportedEnd>) -> ProcessReport {
        let mut agent_output = AgentOutput::default();
        agent_output.conversation_id = Some("b".to_owned());
        agent_output.used_a_tool = true;
        agent_output.end = end;
        ProcessReport {
            ended,
            expected: Some("a".to_owned()),
            agent_output,
            last_error_line: "oh".to_owned(),
            unguarded: false,
            over_budget: false,
            capped: None,
            fleet_cap: None,
        }
    }

    #[track_caller]
    fn check(runner: Runner, report: &ProcessReport, expected: &str) {
        let described = match ending(runner, report) {
            Ending::Fault { fault, reason } => format!("{}: {reason}", fault.word()),
            Ending::Stopping { worked } => format!("stopping, worked {worked}"),
            Ending::Finished { worked } => format!("finished, worked {worked}"),
        };
        assert_eq!(described, expected);
    }

    #[test]
    fn work_is_done_only_when_it_says_so_and_exits_well() {
        let (done, failed) = (
            Some(ReportedEnd::Done),
            Some(ReportedEnd::Failed("no model".to_owned())),
        );
        let exit = |code| Some(ProcessEnd::Exit(code));
        check(
            CODEX,
            &report(exit(0), done.clone()),
            "stopping, worked true",
        );
        check(
            CODEX,
            &report(exit(0), None),
            "crashed: codex ended with exit code 0 before it reported that it was done: oh",
        );
        check(
            CODEX,
            &report(exit(3), done.clone()),
            "crashed: codex ended with exit code 3: oh",
        );
        check(
            CODEX,
            &report(exit(0), failed.clone()),
            "crashed: codex ended with exit code 0: no model",
        );
        check(
            CODEX,
            &report(Some(ProcessEnd::Signal(9)), done.clone()),
            "crashed: codex ended by signal 9: oh",
        );
        let mut nameless = report(exit(0), done.clone());
        nameless.agent_output.conversation_id = None;
        check(
            CODEX,
            &nameless,
            "crashed: codex ended with exit code 0: oh",
        );
        check(
            CODEX,
            &report(exit(1), Some(ReportedEnd::DoneOverBudget)),
            "stopping, worked true",
        );
        check(
            CODEX,
            &report(exit(1), Some(ReportedEnd::OverBudget("no".to_owned()))),
            "crashed: codex ended with exit code 1: no",
        );
        check(
            Runner::Command,
            &report(exit(0), None),
            "finished, worked true",
        );
        let mut silent = report(exit(1), None);
        silent.last_error_line.clear();
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
                Some(ProcessEnd::TimedOut),
                "timeout: codex took longer than its time limit",
            ),
            (
                Some(ProcessEnd::Silent),
                "timeout: codex printed nothing for longer than its heartbeat",
            ),
            (
                Some(ProcessEnd::Stopped),
                "crashed: codex was stopped by a signal to gatewright",
            ),
            (
                Some(ProcessEnd::EndedByReader),
                "crashed: codex was asked for conversation a and started b",
            ),
        ] {
            check(CODEX, &report(ended, Some(ReportedEnd::Done)), expected);
        }
    }
}
