//! The page of rules names every code that the program can say.

use std::fmt::Write;
use std::path::Path;

use engine::{CheckRule, Rule, Severity};
use language::LanguageRule;

fn page() -> String {
    let mut page = String::from(
        "# The rules and their codes\n\nEvery refusal, entry and problem names the rule by which it was decided. \
         A code never changes its meaning.\n\n## Decisions about a run\n\n\
         `gatewright why RUN ENTRY` shows which one decided.\n\n| code | the rule |\n| --- | --- |\n",
    );
    for rule in Rule::ALL {
        let _ = writeln!(page, "| {} | {} |", rule.code(), rule.text());
    }
    page.push_str("\n## What `gatewright lint` reads\n\n| code | the rule |\n| --- | --- |\n");
    for rule in LanguageRule::ALL {
        let _ = writeln!(page, "| {} | {} |", rule.code(), rule.text());
    }
    page.push_str(
        "\n## What `gatewright lint` proves\n\n| code | | the rule |\n| --- | --- | --- |\n",
    );
    for rule in CheckRule::ALL {
        let severity = match rule.severity() {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        let _ = writeln!(page, "| {} | {severity} | {} |", rule.code(), rule.text());
    }
    page
}

#[test]
fn the_page_of_rules_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/rules.md");
    if std::env::var_os("UPDATE_REFERENCE").is_some() {
        std::fs::write(&path, page()).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(
        kept,
        page(),
        "run `UPDATE_REFERENCE=1 cargo test -p testkit --test house`"
    );
}

#[test]
fn no_code_stands_for_two_rules() {
    let mut codes: Vec<&str> = Rule::ALL.iter().map(|rule| rule.code()).collect();
    codes.extend(CheckRule::ALL.iter().map(|rule| rule.code()));
    codes.extend(LanguageRule::ALL.iter().map(|rule| rule.code()));
    let all = codes.len();
    codes.sort_unstable();
    codes.dedup();
    assert_eq!(codes.len(), all);
}
