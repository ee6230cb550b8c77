//! Rules about names: a type's name has one meaning in its crate, and only `hosts` knows a program's tools.

use std::collections::BTreeMap;

use crate::Rule;
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
    const KNOW_NONE: [&str; 7] = [
        "engine",
        "runtime",
        "runner",
        "install",
        "hook",
        "views",
        "gatewright",
    ];
    let in_crate = |file: &&File| {
        let mut names = KNOW_NONE.iter();
        names.any(|name| file.path.starts_with(&format!("crates/{name}/src/")))
    };
    let plays_a_host = |file: &&File| file.path.starts_with("crates/install/src/prove");
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

/// The rules of this file, each with small repositories that break it and one that keeps it.
pub(crate) const RULES: &[Rule] = &[
    Rule {
        says: "no two types of a crate have one name",
        find: types_twice,
        broken: &[
            &[
                ("crates/a/src/one.rs", "pub(crate) struct Line<'a> {}\n"),
                ("crates/a/src/two.rs", "enum Line {}\n"),
            ],
            &[
                ("crates/a/src/one.rs", "pub type Line = u8;\n"),
                ("crates/a/src/one/tests.rs", "struct Line(u8);\n"),
            ],
        ],
        kept: &[
            (
                "crates/a/src/one.rs",
                "struct Line;\nimpl A for B {\n    type Line = Line;\n}\n// struct Line;\n",
            ),
            ("crates/a/src/one/wire.rs", "struct Line;\n"),
            ("crates/a/tests/all/main.rs", "struct Line;\n"),
            ("xtask/src/one.rs", "struct Line;\n"),
            ("xtask/src/two.rs", "struct Line;\n"),
            (
                "crates/b/src/one.rs",
                "struct Line;\nfn line(line: Line) {}\n",
            ),
        ],
    },
    Rule {
        says: "only `hosts` knows what a program calls its tools",
        find: tools,
        broken: &[
            &[(
                "crates/hook/src/event.rs",
                "fn a() { tool(\"SendMessage\") }",
            )],
            &[(
                "crates/engine/src/a.rs",
                "const A: [&str; 1] = [\"Agent\"];",
            )],
        ],
        kept: &[
            ("crates/hosts/src/claude.rs", "const A: &str = \"Agent\";"),
            (
                "crates/install/src/prove/payloads.rs",
                "const A: &str = \"Agent\";",
            ),
            (
                "crates/views/src/a.rs",
                "/// \"Agent\"\nconst A: &str = \"Agent of the run\";",
            ),
        ],
    },
];
