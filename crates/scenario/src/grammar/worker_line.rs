//! Parses what a worker does.

use engine::{Fault, SESSION, Usage};

use super::Read;
use crate::known_names::KnownNames;
use crate::mistake::Rule;
use crate::phrase::{Phrase, unknown};
use crate::step::{Act, Begins, How, Left, Subject};
use crate::wording::KEYWORDS;
use crate::words::Form;

/// `ansible-validator`, `step s1`, `writer with step s1`.
pub(crate) fn subject(phrase: &mut Phrase<'_>, known: &KnownNames<'_>) -> Read<Subject> {
    if phrase.accept("step") {
        return known
            .step(phrase.word("the id of a step")?)
            .map(Subject::Step);
    }
    let agent = known.agent(phrase.word("an agent")?)?;
    if phrase.accept("with step") {
        let step = known.step(phrase.word("the id of a step")?)?;
        Ok(Subject::AgentWithStep(agent, step))
    } else {
        Ok(Subject::Agent(agent))
    }
}

#[derive(Clone, Copy)]
enum Verb {
    Begins,
    Ends,
    Works,
    Fault(Fault),
    Leaves,
    Adds,
    Says,
}

const VERBS: [(&str, Verb); 12] = [
    ("begins", Verb::Begins),
    ("ends", Verb::Ends),
    ("works", Verb::Works),
    ("crashes", Verb::Fault(Fault::Crashed)),
    ("times out", Verb::Fault(Fault::Timeout)),
    ("leaves", Verb::Leaves),
    ("adds", Verb::Adds),
    ("is hollow", Verb::Fault(Fault::Hollow)),
    ("strays", Verb::Fault(Fault::Strayed)),
    ("conflicts", Verb::Fault(Fault::Conflict)),
    ("is limited", Verb::Fault(Fault::Limited)),
    ("says", Verb::Says),
];

pub(super) fn worker(phrase: &mut Phrase<'_>, known: &KnownNames<'_>) -> Read<Act> {
    a_step_at_all(phrase, known)?;
    let subject = subject(phrase, known)?;
    let (begins, how) = match phrase.one_of("something that an agent does", &VERBS)? {
        Verb::Begins => return Ok(Act::Begin(subject)),
        Verb::Ends => (Begins::Not, plain(phrase, known)?),
        Verb::Works => (Begins::First, plain(phrase, known)?),
        Verb::Fault(fault) => (Begins::IfIdle, How::Fault(fault)),
        Verb::Leaves => (Begins::IfIdle, leaves(phrase, known)?),
        Verb::Adds => (
            Begins::IfIdle,
            How::Adds(phrase.text("a command in quotes")?),
        ),
        Verb::Says => (Begins::IfIdle, How::Says(phrase.text("a word in quotes")?)),
    };
    Ok(Act::End {
        subject,
        begins,
        how,
        usage: usage(phrase)?,
    })
}

/// A line without a verb after an unknown agent is not a step: then the first word is the problem.
fn a_step_at_all(phrase: &Phrase<'_>, known: &KnownNames<'_>) -> Read<()> {
    let Some(first) = phrase.peek().filter(|word| word.form == Form::Bare) else {
        return Ok(());
    };
    let verbs = VERBS
        .iter()
        .filter_map(|(words, _)| words.split(' ').next());
    let has_verb = || {
        let second = phrase.peek_after(1).map_or("", |word| word.text.as_str());
        second == "with" || verbs.into_iter().any(|verb| verb == second)
    };
    if first.text == "step" || first.text == SESSION || has_verb() || known.agent(first).is_ok() {
        return Ok(());
    }
    Err(unknown(
        Rule::UnknownWord,
        first,
        "the beginning of a step",
        KEYWORDS,
    ))
}

/// The outcome or fault after `works` and `ends`.
pub(super) fn plain(phrase: &mut Phrase<'_>, known: &KnownNames<'_>) -> Read<How> {
    let Some(word) = phrase.peek().filter(|word| !word.is("using")) else {
        return Ok(How::Well);
    };
    let outcome = known.outcome(word)?;
    phrase.word("an outcome")?;
    Ok(Fault::parse(outcome.as_str()).map_or(How::Outcome(outcome), How::Fault))
}

/// `nothing`, `an old artifact`, `an invalid plan`, `no plan`.
fn leaves(phrase: &mut Phrase<'_>, known: &KnownNames<'_>) -> Read<How> {
    let states = [
        ("nothing", None),
        ("an old", Some(Left::Old)),
        ("an invalid", Some(Left::Invalid)),
        ("no", Some(Left::Nothing)),
    ];
    let Some(state) = phrase.one_of("something that can be left", &states)? else {
        return Ok(How::Fault(Fault::Missing));
    };
    let any = state != Left::Nothing && phrase.accept("artifact");
    let artifact = if any {
        None
    } else {
        Some(known.artifact(phrase.word("an artifact")?)?)
    };
    Ok(How::Leaves { state, artifact })
}

/// `using 40 turns, 9000 tokens, 12 cents`.
fn usage(phrase: &mut Phrase<'_>) -> Read<Usage> {
    let mut usage = Usage::default();
    if phrase.accept("using") {
        loop {
            let amount = u64::from(phrase.number("a number")?);
            match phrase.one_of("a unit", &[("turns", 0), ("tokens", 1), ("cents", 2)])? {
                0 => usage.turns = amount,
                1 => usage.tokens = amount,
                _ => usage.cost_cents = amount,
            }
            if phrase.peek().is_none() {
                break;
            }
        }
    }
    Ok(usage)
}
