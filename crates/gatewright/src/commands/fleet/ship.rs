//! `gatewright fleet ship`: copies the journals of guarded runs to the fleet's database.

use std::path::Path;

use pg_store::{Address, ShippedCopies};
use runtime::context::Context;
use runtime::enrolment;
use runtime::failure::Failure;
use runtime::fleet_membership::FleetMembership;
use runtime::shipping::{self, Halt, PassResult, Passed, Shipper, ShippingLog, Watch};
use runtime::state::State;
use serde_json::{Value, json};
use store::{Access, JournalCopies, Sqlite};

use crate::fleet_link::FleetLink;
use crate::output::Output;

/// Ships what is there, and ends.
pub(super) fn once(context: &Context, output: &mut Output) -> Result<(), Failure> {
    let state = context.state()?;
    let copies = connect(&FleetLink::membership(context)?)?;
    let passed = match Sqlite::open(state.folder(), Access::Read) {
        Err(store::Error::Absent { .. }) => Passed::default(),
        opened => Shipper::new(&state).pass(&opened?, copies.as_ref())?,
    };
    for line in problems(&passed) {
        output.say(&line);
    }
    output.facts(|_| format!("{}\n", summary(&passed)), || json(&passed))
}

/// Ships until the person ends it.
pub(super) fn in_front(context: &Context, output: &mut Output) -> Result<(), Failure> {
    let state = context.state()?;
    let membership = FleetLink::membership(context)?;
    // What is wrong with the address or the database is said at once.
    connect(&membership)?;
    let Some(_lock) = shipping::lock(&state) else {
        return Err(
            Failure::refused("another process ships the journals of this machine already")
                .hint("ship what is there now with `gatewright fleet ship --once`"),
        );
    };
    output.say("shipping the journals of guarded runs; Ctrl-C ends it");
    shipping::watch(&mut Watch {
        state: &state,
        idle: shipping::IDLE,
        is_anybody_there: &|| true,
        connect: &mut || connect(&membership),
        tell: &mut |told| lines(&told).iter().for_each(|line| output.say(line)),
    });
    Ok(())
}

/// Ships in the background: nobody reads what it says but the log, and it ends by itself.
pub(super) fn detached(folder: &Path) -> Result<(), Failure> {
    let state = State::new(folder.to_owned());
    if FleetMembership::load(&state)?.is_some_and(|membership| membership.is_reader) {
        return Ok(());
    }
    let Some(_lock) = shipping::lock(&state) else {
        return Ok(());
    };
    let mut log = ShippingLog::of(&state);
    shipping::watch(&mut Watch {
        state: &state,
        idle: shipping::IDLE,
        is_anybody_there: &|| enrolment::is_anybody_alive(&state),
        connect: &mut || match FleetMembership::load(&state)? {
            Some(membership) => connect(&membership),
            None => Err(Failure::refused("this machine has left its fleet")),
        },
        tell: &mut |told| lines(&told).iter().for_each(|line| log.line(line)),
    });
    Ok(())
}

fn connect(membership: &FleetMembership) -> Result<Box<dyn JournalCopies>, Failure> {
    let address = Address::parse(&membership.source.read()?)?;
    let copies = ShippedCopies::open(&address, Access::Write, &membership.machine)?;
    Ok(Box::new(copies))
}

fn lines(told: &PassResult<'_>) -> Vec<String> {
    match told {
        PassResult::Failed(failure) => vec![format!("not shipped, and retried: {failure}")],
        PassResult::Passed(passed) => {
            let shipped = (passed.entries > 0).then(|| summary(passed));
            shipped.into_iter().chain(problems(passed)).collect()
        }
    }
}

fn summary(passed: &Passed) -> String {
    match passed.entries {
        0 => match passed.still_halted {
            0 => "nothing new to ship".to_owned(),
            1 => "nothing new to ship; 1 run is not shipped any more: run `gatewright verify`"
                .to_owned(),
            more => format!(
                "nothing new to ship; {more} runs are not shipped any more: run `gatewright verify`"
            ),
        },
        1 => "shipped 1 entry of 1 run".to_owned(),
        entries if passed.runs == 1 => format!("shipped {entries} entries of 1 run"),
        entries => format!("shipped {entries} entries of {} runs", passed.runs),
    }
}

fn problems(passed: &Passed) -> Vec<String> {
    let halted = passed.halted.iter();
    let halted = halted.map(|(run, halt)| format!("{run}: {}", halt_words(halt)));
    let failed = passed.failed.iter();
    let failed = failed.map(|(run, failure)| format!("{run}: not shipped: {failure}"));
    halted.chain(failed).collect()
}

/// Why nothing more of a run is shipped, for people.
fn halt_words(halt: &Halt) -> String {
    match halt {
        Halt::Differs { at } => format!(
            "the journal and its shipped copy differ at entry {at}, and nothing more is shipped: run `gatewright verify`"
        ),
        Halt::RolledBack { entries } => format!(
            "the journal has {entries} entries and its shipped copy has more, and nothing more is shipped: run \
             `gatewright verify`"
        ),
        Halt::Adopted(adoption) => {
            views::adopted_elsewhere(adoption.entry, &adoption.by, &adoption.person)
        }
    }
}

fn json(passed: &Passed) -> Value {
    let halted = passed.halted.iter().map(|(run, halt)| {
        let (code, at) = match halt {
            Halt::Differs { at } => ("rewritten", *at),
            Halt::RolledBack { entries } => ("rolled_back", *entries),
            Halt::Adopted(adoption) => ("adopted", adoption.entry),
        };
        json!({ "run": run.as_str(), "why": code, "entry": at })
    });
    let failed = passed.failed.iter();
    let failed =
        failed.map(|(run, failure)| json!({ "run": run.as_str(), "why": failure.to_string() }));
    json!({
        "entries": passed.entries,
        "runs": passed.runs,
        "halted": halted.collect::<Vec<_>>(),
        "still_halted": passed.still_halted,
        "failed": failed.collect::<Vec<_>>(),
    })
}
