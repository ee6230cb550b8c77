//! The command line: every command that can be typed. The doc comments are the help texts.

use clap::{Parser, Subcommand};

use crate::arguments::GlobalArguments;
use crate::commands::{
    adopt, answer, bypass, cancel, caps, check, checkpoint, completions, deliver, demo, diff,
    doctor, dry_run, exit_codes, export, finish, fleet, fork, gc, graph, help, history, import,
    inbox, init, lint, list, logs, man, merge, metrics, new, next, pipelines, prove_guards, queue,
    recover, report, reset, restore, resume, retry, run, schema, serve, show, skip, start, status,
    statusline, step, terminal_keeper, test, trust, uninit, verify, watch, watchdog, why, worker,
};
use crate::exit::Exit;

/// Makes coding agents follow a process, and proves that they did
///
/// A pipeline defines which agent may work when, what it must produce, what is checked, and who
/// decides. A run takes one task in one project through a pipeline.
///
/// Results go to stdout, messages to stderr.
#[derive(Debug, Parser)]
#[command(name = "gatewright", version, verbatim_doc_comment)]
#[command(after_help = exit_codes_text(), arg_required_else_help = true)]
#[command(disable_help_subcommand = true)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub everywhere: GlobalArguments,
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Demo(demo::Demo),
    Pipelines(pipelines::Pipelines),
    Lint(lint::Lint),
    Graph(graph::Graph),
    Schema(schema::Schema),
    Test(test::Test),
    New(new::New),

    Init(init::Init),
    Uninit(uninit::Uninit),
    Doctor(doctor::Doctor),
    ProveGuards(prove_guards::ProveGuards),
    Trust(trust::Trust),
    Start(start::Start),
    Run(run::Run),
    Resume(resume::Resume),
    Recover(recover::Recover),
    Worker(worker::Worker),
    Deliver(deliver::Deliver),
    Merge(merge::Merge),
    Queue(queue::Queue),
    Caps(caps::Caps),
    Fleet(fleet::Fleet),
    DryRun(dry_run::DryRun),
    List(list::List),
    Status(status::Status),
    Inbox(inbox::InboxCommand),
    Watch(watch::Watch),
    Serve(serve::Serve),
    Next(next::Next),

    Report(report::Report),
    Check(check::Check),
    Step(step::Step),
    Answer(answer::Answer),
    Finish(finish::Finish),
    Retry(retry::Retry),
    Skip(skip::Skip),
    Bypass(bypass::Bypass),
    Cancel(cancel::Cancel),
    Reset(reset::Reset),

    Show(show::Show),
    History(history::History),
    Diff(diff::Diff),
    Logs(logs::Logs),
    Why(why::Why),
    Metrics(metrics::Metrics),
    Verify(verify::Verify),
    Checkpoint(checkpoint::Checkpoint),
    Restore(restore::Restore),
    Fork(fork::Fork),
    Export(export::Export),
    Import(import::Import),
    Adopt(adopt::Adopt),
    Gc(gc::Gc),

    Statusline(statusline::Statusline),
    Completions(completions::Completions),
    Man(man::Man),
    Help(help::Help),
    #[command(hide = true)]
    ExitCodes(exit_codes::ExitCodes),
    #[command(hide = true)]
    DemoOrchestrator(demo::DemoOrchestrator),
    #[command(hide = true)]
    DemoWorker(demo::DemoWorker),
    #[command(hide = true)]
    Watchdog(watchdog::Watchdog),
    #[command(hide = true)]
    TerminalKeeper(terminal_keeper::TerminalKeeper),
}

fn exit_codes_text() -> String {
    format!("Exit codes:\n{}", Exit::table())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_arguments_do_not_contradict_each_other() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn every_command_and_every_argument_explains_itself() {
        for command in Arguments::command().get_subcommands() {
            assert!(command.get_about().is_some(), "{}", command.get_name());
            for argument in command.get_arguments() {
                let name = format!("{} {}", command.get_name(), argument.get_id());
                assert!(argument.get_help().is_some(), "{name}");
            }
        }
    }
}
