//! Parses an indented line into an expectation.

use engine::{Rule as EngineRule, SessionId, StepId};

use super::expectation::{AtWork, Count, Expectation, May, Presence, ReplyKind, StepState};
use super::grammar::Read;
use super::grammar::subject;
use super::known_names::{KnownNames, name};
use super::mistake::Rule;
use super::phrase::{Phrase, bad, pair, unknown};
use super::step::Subject;
use super::words::{Form, Word};

#[derive(Clone, Copy)]
enum Topic {
    Stage,
    Status,
    Waiting,
    Reply,
    Rule,
    Next,
    Counter,
    May(May),
    Steps,
    Round,
    Retries,
    Artifacts(Presence),
    Approved(Presence),
    Gates(Presence),
    Overridden(Presence),
    Held,
    AtWork,
    Entries,
}

const TOPICS: [(&str, Topic); 23] = [
    ("stage", Topic::Stage),
    ("status", Topic::Status),
    ("waiting", Topic::Waiting),
    ("reply", Topic::Reply),
    ("rule", Topic::Rule),
    ("next", Topic::Next),
    ("counter", Topic::Counter),
    ("allowed", Topic::May(May::Allowed)),
    ("refused", Topic::May(May::Refused)),
    ("steps", Topic::Steps),
    ("round", Topic::Round),
    ("retries", Topic::Retries),
    ("artifact", Topic::Artifacts(Presence::There)),
    ("no artifact", Topic::Artifacts(Presence::Missing)),
    ("approved", Topic::Approved(Presence::There)),
    ("not approved", Topic::Approved(Presence::Missing)),
    ("gate", Topic::Gates(Presence::There)),
    ("no gate", Topic::Gates(Presence::Missing)),
    ("overridden", Topic::Overridden(Presence::There)),
    ("not overridden", Topic::Overridden(Presence::Missing)),
    ("held by", Topic::Held),
    ("at work", Topic::AtWork),
    ("entries", Topic::Entries),
];

const STATUSES: [(&str, &str); 6] = [
    ("queued", "queued"),
    ("running", "running"),
    ("waiting", "waiting"),
    ("completed", "completed"),
    ("failed", "failed"),
    ("cancelled", "cancelled"),
];

pub(crate) fn expectation(phrase: &mut Phrase<'_>, known: &KnownNames<'_>) -> Read<Expectation> {
    let topic = phrase.one_of("something that can be expected", &TOPICS)?;
    let expectation = match topic {
        Topic::Stage => Expectation::Stage(known.stage(phrase.word("a stage")?)?),
        Topic::Status => Expectation::Status(phrase.one_of("a status", &STATUSES)?),
        Topic::Waiting => Expectation::Waiting(match phrase.peek() {
            Some(_) => phrase.text("a reason")?,
            None => String::new(),
        }),
        Topic::Reply => reply(phrase)?,
        Topic::Rule => Expectation::Rule(rule(phrase.word("a rule's code")?)?),
        Topic::Next => Expectation::Next(several(phrase, "what is next", next_thing)?),
        Topic::Counter => {
            let counter = known.counter(phrase.word("a counter")?)?;
            Expectation::Counter(counter, phrase.number("a number")?)
        }
        Topic::May(answer) => Expectation::May {
            answer,
            subjects: subjects(phrase, known)?,
        },
        Topic::Steps => Expectation::Steps(several(phrase, "`STEP=STATE`", step_state)?),
        Topic::Round => round(phrase, known)?,
        Topic::Retries => Expectation::Retries(phrase.number("a number")?),
        Topic::Artifacts(presence) => {
            let artifacts = several(phrase, "an artifact", |word| known.artifact(word))?;
            Expectation::Artifacts(presence, artifacts)
        }
        Topic::Approved(presence) => {
            let artifacts = several(phrase, "an artifact", |word| known.artifact(word))?;
            Expectation::Approved(presence, artifacts)
        }
        Topic::Gates(presence) => Expectation::Gates(
            presence,
            several(phrase, "a stage", |word| known.stage(word))?,
        ),
        Topic::Overridden(presence) => Expectation::Overridden(presence),
        Topic::Held => held(phrase.word("a session, or `nobody`")?)?,
        Topic::AtWork => at_work(phrase, known)?,
        Topic::Entries => entries(phrase.word("a number")?)?,
    };
    phrase.end()?;
    Ok(expectation)
}

fn several<T>(
    phrase: &mut Phrase<'_>,
    wanted: &str,
    mut read: impl FnMut(&Word) -> Read<T>,
) -> Read<Vec<T>> {
    let mut all = vec![read(phrase.word(wanted)?)?];
    while phrase.peek().is_some() {
        all.push(read(phrase.word(wanted)?)?);
    }
    Ok(all)
}

/// `reply refuse GW-R11 "may not work"`: the code and the text are optional.
fn reply(phrase: &mut Phrase<'_>) -> Read<Expectation> {
    let reply = phrase.one_of("a reply", &ReplyKind::ALL)?;
    let bare = phrase.peek().filter(|word| word.form == Form::Bare);
    let code = bare.map(rule).transpose()?;
    if bare.is_some() {
        phrase.word("a rule's code")?;
    }
    let text = match phrase.peek() {
        Some(_) => Some(phrase.text("a text in quotes")?),
        None => None,
    };
    Ok(Expectation::Reply {
        reply,
        rule: code,
        text,
    })
}

fn rule(word: &Word) -> Read<EngineRule> {
    let codes = EngineRule::ALL.iter().map(|rule| rule.code());
    EngineRule::parse(&word.text)
        .ok_or_else(|| unknown(Rule::UnknownName, word, "the code of a rule", codes))
}

/// Only a word here: the run decides whether it is really next.
fn next_thing(word: &Word) -> Read<String> {
    Ok(word.text.clone())
}

fn subjects(phrase: &mut Phrase<'_>, known: &KnownNames<'_>) -> Read<Vec<Subject>> {
    let mut all = vec![subject(phrase, known)?];
    while phrase.peek().is_some() {
        all.push(subject(phrase, known)?);
    }
    Ok(all)
}

fn step_state(word: &Word) -> Read<(StepId, StepState)> {
    let (key, value) = pair(word, "`STEP=STATE`")?;
    let id = StepId::parse(key).map_err(|problem| bad(word, format!("`{key}`: {problem}")))?;
    let state = StepState::ALL.into_iter().find(|(text, _)| *text == value);
    let states = StepState::ALL.map(|(text, _)| text);
    let (_, state) =
        state.ok_or_else(|| unknown(Rule::UnknownWord, word, "the state of a step", states))?;
    Ok((id, state))
}

fn round(phrase: &mut Phrase<'_>, known: &KnownNames<'_>) -> Read<Expectation> {
    let is_number = phrase
        .peek()
        .is_some_and(|word| word.text.parse::<u32>().is_ok());
    let stage = if is_number {
        None
    } else {
        Some(known.stage(phrase.word("a round or a stage")?)?)
    };
    Ok(Expectation::Round {
        stage,
        round: phrase.number("the number of a round")?,
    })
}

fn held(word: &Word) -> Read<Expectation> {
    if word.is("nobody") {
        Ok(Expectation::Held(None))
    } else {
        name(word, SessionId::parse).map(|session| Expectation::Held(Some(session)))
    }
}

fn at_work(phrase: &mut Phrase<'_>, known: &KnownNames<'_>) -> Read<Expectation> {
    if phrase.accept("nobody") {
        return Ok(Expectation::AtWork(AtWork::Nobody));
    }
    let number = phrase.peek().and_then(|word| word.text.parse().ok());
    if let Some(number) = number {
        phrase.word("a number")?;
        return Ok(Expectation::AtWork(AtWork::Number(number)));
    }
    let agents = several(phrase, "an agent", |word| known.agent(word))?;
    Ok(Expectation::AtWork(AtWork::Agents(agents)))
}

/// `12` in total, or `+3` by this step.
fn entries(word: &Word) -> Read<Expectation> {
    let (digits, count): (&str, fn(usize) -> Count) = match word.text.strip_prefix('+') {
        Some(digits) => (digits, Count::Added),
        None => (&word.text, Count::All),
    };
    let number = digits
        .parse()
        .map_err(|_| bad(word, format!("`{}` is not a number", word.text)));
    number.map(|number| Expectation::Entries(count(number)))
}
