//! Rules about names: a type's name has one meaning in its crate, and only `hosts` knows a program's tools.

use std::collections::BTreeMap;

use crate::source::File;

/// No name of a type is defined twice in a crate. A `wire.rs` names the JSON of one program, and each
/// program has its own. `xtask` is several programs, which share little.
pub(crate) fn types_twice(files: &[File]) -> Vec<String> {
    let mut types: BTreeMap<(&str, &str), Vec<&str>> = BTreeMap::new();
    let in_crate = |file: &&File| file.is_rust() && file.path.starts_with("crates/");
    let sources = files.iter().filter(in_crate);
    for file in sources.filter(|file| !file.path.ends_with("/wire.rs")) {
        let Some((home, _)) = file.path.split_once("/src/") else {
            continue;
        };
        for name in types_of(&file.code) {
            types.entry((home, name)).or_default().push(&file.path);
        }
    }
    let twice = types.into_iter().filter(|(_, places)| places.len() > 1);
    twice
        .map(|((_, name), places)| format!("{name}: {}", places.join(", ")))
        .collect()
}

/// The types of a file. What is indented belongs to another item, or to the tests at the end.
fn types_of(code: &str) -> impl Iterator<Item = &str> {
    code.lines().filter_map(|line| {
        let mut words = line.split(' ').skip_while(|word| word.starts_with("pub"));
        let is_type = matches!(words.next(), Some("struct" | "enum" | "trait" | "type"));
        let name = words.next().filter(|_| is_type)?;
        name.split(|c: char| !c.is_alphanumeric()).next()
    })
}

/// Tools that only `hosts` may call by their names. `prove-guards` plays a host, so it may, too.
const TOOLS: [&str; 9] = [
    "Agent",
    "Skill",
    "Workflow",
    "SendMessage",
    "TodoWrite",
    "Bash",
    "Edit",
    "spawn_agent",
    "apply_patch",
];

/// What decides about tools does not know what a program calls them.
pub(crate) fn tools(files: &[File]) -> Vec<String> {
    const KNOW_NONE: [&str; 5] = ["engine", "runtime", "runner", "views", "gatewright"];
    let in_crate = |file: &&File| {
        let mut names = KNOW_NONE.iter();
        names.any(|name| file.path.starts_with(&format!("crates/{name}/src/")))
    };
    let plays_a_host = |file: &&File| file.path.starts_with("crates/gatewright/src/prove");
    let judged = files.iter().filter(in_crate);
    let judged = judged.filter(|file| !file.is_test() && !plays_a_host(file));
    let mut found = Vec::new();
    for file in judged {
        for (line, literal) in file.literals() {
            if TOOLS.contains(&literal.trim_matches('"')) {
                found.push(format!("{}:{line}: names the tool {literal}", file.path));
            }
        }
    }
    found
}
