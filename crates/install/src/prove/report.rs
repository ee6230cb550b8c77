//! The results, as a table and as JSON.

use serde_json::{Value, json};
use views::{Paint, Style};

use super::Proof;
use super::exchange::Exchange;
use super::gates::{Case, CaseResult, Column, Gate};
use super::hook_process::{HookOutput, ProcessEnd};

/// How much to print.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// The table, and the cases that failed.
    Short,
    /// Every case with its payloads.
    Long,
}

/// Longer payloads are cut: nobody reads them.
const LONGEST_SHOWN: usize = 2_000;

/// The proof as a table.
pub fn text(proof: &Proof, detail: Detail, paint: Paint) -> String {
    let mut text = format!(
        "The guards of {}, through {}.\n\
         Each case ran the hook as Claude Code runs it, in a temporary copy of the project, without a\n\
         model. No command of the pipeline ran: a stand-in replaced the commands of check stages.\n\n",
        views::line(&proof.pipeline),
        views::line(&proof.through),
    );
    let width = proof
        .gates
        .iter()
        .map(|gate| title(gate).chars().count())
        .max();
    let width = width.unwrap_or_default();
    text.push_str(&format!("  {:width$}  refusal  pass     fault\n", "gate"));
    for gate in &proof.gates {
        let cells = Column::ALL.map(|column| cell(gate, column, paint));
        text.push_str(&format!(
            "  {:width$}  {}\n",
            title(gate),
            cells.concat().trim_end()
        ));
    }
    text.push('\n');
    for gate in &proof.gates {
        let told = gate.cases.iter();
        let told = told.filter(|case| detail == Detail::Long || case.result != CaseResult::Held);
        told.for_each(|case| text.push_str(&told_case(gate, case, detail, paint)));
    }
    text.push_str(&summary(proof, paint));
    text
}

fn title(gate: &Gate) -> String {
    views::line(&format!("{} ({})", gate.name, gate.about))
}

/// How many cases of a column held. The padding ignores colour codes.
fn cell(gate: &Gate, column: Column, paint: Paint) -> String {
    let own: Vec<&Case> = gate
        .cases
        .iter()
        .filter(|case| case.column == column)
        .collect();
    let held = own
        .iter()
        .filter(|case| case.result == CaseResult::Held)
        .count();
    let is_broken = own
        .iter()
        .any(|case| matches!(case.result, CaseResult::Broken(_)));
    let (style, told) = match own.len() {
        0 => (Style::Dim, "·".to_owned()),
        all if held == all => (Style::Good, format!("✓ {all}")),
        all if is_broken => (Style::Bad, format!("✗ {held}/{all}")),
        all => (Style::Wait, format!("? {held}/{all}")),
    };
    let padding = " ".repeat(9_usize.saturating_sub(told.chars().count()));
    format!("{}{padding}", paint.on(style, &told))
}

fn told_case(gate: &Gate, case: &Case, detail: Detail, paint: Paint) -> String {
    let (style, mark, why) = match &case.result {
        CaseResult::Held => (Style::Good, "✓", None),
        CaseResult::Broken(why) => (Style::Bad, "✗", Some(("failed", why))),
        CaseResult::NotTested(why) => (Style::Wait, "?", Some(("not tested", why))),
    };
    let name = format!("{}, {}: {}", gate.name, case.column.word(), case.what);
    let mut text = format!("{} {}\n", paint.on(style, mark), views::line(&name));
    if let Some((word, why)) = why {
        text.push_str(&format!("    {word}: {}\n", views::line(why)));
    }
    if detail == Detail::Long {
        case.exchanges
            .iter()
            .for_each(|exchange| text.push_str(&told_exchange(exchange)));
        text.push('\n');
    }
    text
}

fn told_exchange(exchange: &Exchange) -> String {
    let lines = [
        ("sent", exchange.payload.what.clone()),
        ("", shown(&exchange.payload.bytes)),
        ("expected", exchange.expected.describe()),
        ("got", exchange.reaction.describe()),
        (
            "",
            format!(
                "{} {}",
                ended(&exchange.output),
                shown(&exchange.output.stdout)
            ),
        ),
    ];
    let lines = lines.iter().map(|(word, told)| {
        let told = views::line(told);
        format!("    {word:<9} {}\n", told.trim_end())
    });
    lines.collect()
}

fn shown(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    match text.char_indices().nth(LONGEST_SHOWN) {
        Some((at, _)) => {
            let begins = text.get(..at).unwrap_or_default();
            format!("{begins}… ({} bytes)", bytes.len())
        }
        None => text.into_owned(),
    }
}

fn ended(output: &HookOutput) -> String {
    match &output.ended {
        ProcessEnd::Code(code) => format!("exit {code}"),
        ProcessEnd::Signal(signal) => format!("signal {signal}"),
        ProcessEnd::TimedOut => "no end".to_owned(),
        ProcessEnd::NotStarted(_) => "not run".to_owned(),
    }
}

struct Counts {
    all: usize,
    broken: usize,
    not_tested: usize,
}

fn counts(proof: &Proof) -> Counts {
    let cases: Vec<&Case> = proof.gates.iter().flat_map(|gate| &gate.cases).collect();
    let count = |is: fn(&CaseResult) -> bool| cases.iter().filter(|case| is(&case.result)).count();
    Counts {
        all: cases.len(),
        broken: count(|result| matches!(result, CaseResult::Broken(_))),
        not_tested: count(|result| matches!(result, CaseResult::NotTested(_))),
    }
}

fn summary(proof: &Proof, paint: Paint) -> String {
    let Counts {
        all,
        broken,
        not_tested,
    } = counts(proof);
    let took = format!("{:.1} s", proof.seconds);
    match (broken, not_tested) {
        (0, 0) => {
            let told = format!("Every guard works: {all} cases in {took}.");
            format!("{}\n", paint.on(Style::Good, &told))
        }
        (0, not_tested) => {
            let told = format!("{not_tested} of {all} cases could not be tested ({took}).");
            format!("{}\n", paint.on(Style::Wait, &told))
        }
        (broken, not_tested) => {
            let told = format!(
                "{broken} of {all} cases failed, {not_tested} could not be tested ({took})."
            );
            format!("{}\n", paint.on(Style::Bad, &told))
        }
    }
}

/// The proof as JSON.
pub fn json(proof: &Proof) -> Value {
    let counts = counts(proof);
    let gates: Vec<Value> = proof.gates.iter().map(gate_json).collect();
    json!({
        "pipeline": proof.pipeline,
        "through": proof.through,
        "holds": proof.holds(),
        "cases": counts.all,
        "broken": counts.broken,
        "not_shown": counts.not_tested,
        "seconds": proof.seconds,
        "gates": gates,
    })
}

fn gate_json(gate: &Gate) -> Value {
    let cases: Vec<Value> = gate.cases.iter().map(case_json).collect();
    json!({ "gate": gate.name, "about": gate.about, "cases": cases })
}

fn case_json(case: &Case) -> Value {
    let (result, why) = match &case.result {
        CaseResult::Held => ("held", None),
        CaseResult::Broken(why) => ("broken", Some(why)),
        CaseResult::NotTested(why) => ("not shown", Some(why)),
    };
    let exchanges: Vec<Value> = case.exchanges.iter().map(exchange_json).collect();
    json!({
        "column": case.column.word(),
        "what": case.what,
        "result": result,
        "why": why,
        "exchanges": exchanges,
    })
}

fn exchange_json(exchange: &Exchange) -> Value {
    json!({
        "event": exchange.payload.event.word(),
        "sent": shown(&exchange.payload.bytes),
        "expected": exchange.expected.describe(),
        "got": exchange.reaction.describe(),
        "ended": ended(&exchange.output),
        "stdout": shown(&exchange.output.stdout),
        "stderr": shown(&exchange.output.stderr),
    })
}
