//! Every rule, with small repositories that break it and one that keeps it.

use crate::{Rule, manifest, modules, names, purity, text, voice, wishes};

const LAWFUL: &str = "[workspace.package]\nlicense = \"MIT OR Apache-2.0\"\n\
                      [workspace.lints.rust]\nunsafe_code = \"forbid\"\n";
const LAWFUL_CRATE: &str = "[package]\nname = \"views\"\nlicense.workspace = true\n\
                            [lints]\nworkspace = true\n";

pub(crate) const RULES: &[Rule] = &[
    Rule {
        says: "the modules of a crate form layers, without a cycle",
        find: modules::cycles,
        broken: &[
            &[
                ("crates/a/src/lib.rs", "mod one;\nmod two;\n"),
                ("crates/a/src/one.rs", "use crate::{three, two::Two};\n"),
                ("crates/a/src/two.rs", "fn f() { super::one::g() }\n"),
            ],
            &[
                (
                    "xtask/src/main.rs",
                    "mod one;\nmod two;\npub use two::deep::{Two as Second};\n",
                ),
                ("xtask/src/one.rs", "use crate::Second;\n"),
                (
                    "xtask/src/two/deep.rs",
                    "mod inner { use super::super::super::one::*; }\n",
                ),
            ],
            &[
                ("crates/a/src/lib.rs", "mod one;\npub fn f() { one::g() }\n"),
                ("crates/a/src/one.rs", "use crate::f;\n"),
            ],
            &[
                (
                    "crates/a/src/lib.rs",
                    "mod one;\npub use one::One;\npub fn f(one: One) {}\n",
                ),
                ("crates/a/src/one.rs", "use crate::f;\n"),
            ],
        ],
        kept: &[
            (
                "crates/a/src/lib.rs",
                "mod one;\n#[cfg(test)]\nmod try_out;\nmod two;\npub use one::One;\n",
            ),
            (
                "crates/a/src/one.rs",
                "// use crate::two;\n/* crate::two */\nconst A: &str = \"crate::two::A\";\n\
                 pub(in crate::two) fn g() {}\nfn f() -> impl Sized + use<'_> {}\n\
                 #[cfg(test)]\nuse crate::two::Two;\n#[cfg(test)]\nmod tests { use crate::two::Two; }\n",
            ),
            ("crates/a/src/one/tests.rs", "use crate::two::Two;\n"),
            ("crates/a/src/try_out.rs", "use crate::{one, two};\n"),
            (
                "crates/a/src/two.rs",
                "use crate::One;\nuse self::deep::Deep;\nuse super::try_out;\n",
            ),
            (
                "crates/a/src/two/deep.rs",
                "use super::Two;\nuse crate::one;\n",
            ),
            ("crates/a/tests/all.rs", "use crate::two;\n"),
        ],
    },
    Rule {
        says: "no two types of a crate have one name",
        find: names::types_twice,
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
        find: names::tools,
        broken: &[
            &[(
                "crates/gatewright/src/hook/event.rs",
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
                "crates/gatewright/src/prove/payloads.rs",
                "const A: &str = \"Agent\";",
            ),
            (
                "crates/views/src/a.rs",
                "/// \"Agent\"\nconst A: &str = \"Agent of the run\";",
            ),
        ],
    },
    Rule {
        says: "every Rust file opens with a sentence that says what it is for",
        find: text::opening,
        broken: &[
            &[("a.rs", "fn a() {}\n")],
            &[("a.rs", "//!\n")],
            &[("a.rs", "//! todo\n")],
            &[("a.rs", "// Comment.\n")],
        ],
        kept: &[
            (
                "a.rs",
                "//! What it is for,\n//! over two lines.\n\nfn a() {}\n",
            ),
            ("a.md", "# A\n"),
        ],
    },
    Rule {
        says: "no file has more than 600 lines",
        find: text::file_length,
        broken: &[&[("a.rs", "⟨601 lines⟩")]],
        kept: &[("a.rs", "⟨61 lines⟩"), ("a.md", "⟨601 lines⟩")],
    },
    Rule {
        says: "no function has more than 60 lines",
        find: text::function_length,
        broken: &[
            &[("a.rs", "pub fn long(a: [u8; 2]) -> u8 { ⟨61 lines⟩ }")],
            &[(
                "a.rs",
                "impl A { fn f() { let a = '{'; if b { ⟨61 lines⟩ } } }",
            )],
            &[("a.rs", "#[cfg(test)]\nmod tests;\nfn long() { ⟨61 lines⟩ }")],
            &[(
                "a.rs",
                "fn a(a: A) {\n    match a {\n        A::B => {\n⟨61 lines⟩        }\n    }\n}",
            )],
            &[(
                "a.rs",
                "fn a(a: A) {\n    match a {\n⟨61 arms⟩    }\n    more();\n}",
            )],
        ],
        kept: &[
            (
                "a.rs",
                "fn a() {} ⟨61 lines⟩ trait B { fn b(); } ⟨61 lines⟩ fn c() {}",
            ),
            (
                "b.rs",
                "#[cfg(test)]\nmod tests { fn table() { ⟨61 lines⟩ } }",
            ),
            ("crates/a/tests/b.rs", "fn table() { ⟨61 lines⟩ }"),
            ("c.rs", "fn c(a: A) {\n    match a {\n⟨61 arms⟩    }\n}"),
        ],
    },
    Rule {
        says: "no file, folder or module has a name that says nothing",
        find: text::empty_names,
        broken: &[
            &[("crates/store/src/utils.rs", "")],
            &[("crates/core/src/lib.rs", "")],
            &[("src/hook_handler.rs", "")],
            &[("src/a.rs", "pub mod helpers;")],
            &[("src/a.rs", "mod tests { mod common { } }\nmod misc {")],
        ],
        kept: &[("src/score.rs", "// mod util;\nmod hooks;\nfn handler() {}")],
    },
    Rule {
        says: "nothing unfinished, left over or silenced",
        find: text::leftovers,
        broken: &[
            &[("a.rs", "fn a() { todo!() }")],
            &[("a.rs", "fn a() { unimplemented!() }")],
            &[("a.rs", "fn a() { dbg!(1); }")],
            &[("a.rs", "#[test]\n#[ignore]\nfn a() {}")],
            &[("a.rs", "#[ignore = \"slow\"]\nfn a() {}")],
            &[("a.rs", "#[allow(dead_code)]\nfn a() {}")],
            &[("a.rs", "#![allow(dead_code)]\n")],
        ],
        kept: &[(
            "a.rs",
            "// todo!\n#[expect(dead_code)]\nfn a() { f(\"dbg!\") }",
        )],
    },
    Rule {
        says: "no merge is left half done",
        find: text::merges,
        broken: &[
            &[("a.md", "- one\n<<<<<<< HEAD\n- two\n")],
            &[("a.rs", "fn a() {}\n>>>>>>> 1234567 (a: b)\n")],
        ],
        kept: &[("a.md", "A heading\n=======\nand `<<<<<<< HEAD` in a line\n")],
    },
    Rule {
        says: "only output.rs prints",
        find: text::printing,
        broken: &[
            &[("crates/gatewright/src/main.rs", "fn a() { println!(); }")],
            &[("crates/gatewright/src/main.rs", "fn a() { eprint!(); }")],
            &[("crates/store/src/lib.rs", "use std::io::stdout;")],
            &[("crates/store/src/lib.rs", "fn a() { stderr().write(b); }")],
        ],
        kept: &[
            ("crates/gatewright/src/output.rs", "fn a() { println!(); }"),
            ("crates/store/tests/a.rs", "fn a() { println!(); }"),
            (
                "crates/store/src/a.rs",
                "fn a() { child.stdout(piped()); b.stdout(); }",
            ),
        ],
    },
    Rule {
        says: "no folder of a machine, no registry",
        find: text::places,
        broken: &[
            &[(
                "README.md",
                concat!("see ", env!("CARGO_MANIFEST_DIR"), "/x"),
            )],
            &[("a.rs", concat!("// /ro", "ot/x"))],
            &[("a.md", concat!("from crates", ".io"))],
        ],
        kept: &[
            (
                "README.md",
                "see ~/x and /home/ann/web, the rooted tree and the homely crate",
            ),
            ("a.rs", "// /usr/bin/env"),
        ],
    },
    Rule {
        says: "crates depend on each other only along the arrows",
        find: manifest::arrows,
        broken: &[
            &[(
                "crates/views/Cargo.toml",
                "package.name = \"views\"\n[dependencies]\nstore.workspace = true",
            )],
            &[(
                "crates/engine/Cargo.toml",
                "package.name = \"engine\"\n[build-dependencies]\nviews = \"1\"",
            )],
            &[(
                "crates/store/Cargo.toml",
                "package.name = \"store\"\n[target.'cfg(unix)'.dependencies]\nhosts = \"1\"",
            )],
            &[(
                "crates/store/Cargo.toml",
                "package.name = \"store\"\n[dependencies]\nx = { package = \"hosts\" }",
            )],
            &[(
                "crates/store/Cargo.toml",
                "package.name = \"store\"\n[dev-dependencies]\nevidence = \"1\"",
            )],
            &[(
                "crates/runner/Cargo.toml",
                "package.name = \"runner\"\n[dependencies]\nlanguage = \"1\"",
            )],
            &[(
                "crates/gatewright/Cargo.toml",
                "package.name = \"gatewright\"\n[dependencies]\ntestkit = \"1\"",
            )],
            &[("crates/new/Cargo.toml", "package.name = \"new\"")],
        ],
        kept: &[
            (
                "crates/runner/Cargo.toml",
                "package.name = \"runner\"\n[dependencies]\nstore = \"1\"\nserde = \"1\"",
            ),
            (
                "crates/store/Cargo.toml",
                "package.name = \"store\"\n[dev-dependencies]\ntestkit = \"1\"",
            ),
            (
                "crates/gatewright/Cargo.toml",
                "package.name = \"gatewright\"\n[dependencies]\nlanguage = \"1\"",
            ),
        ],
    },
    Rule {
        says: "the engine depends on nothing",
        find: manifest::engine_alone,
        broken: &[&[(
            "crates/engine/Cargo.toml",
            "package.name = \"engine\"\n[dependencies]\nserde = \"1\"",
        )]],
        kept: &[(
            "crates/engine/Cargo.toml",
            "package.name = \"engine\"\n[dev-dependencies]\nproptest = \"1\"",
        )],
    },
    Rule {
        says: "every crate takes the workspace's lints, which forbid unsafe",
        find: manifest::lints,
        broken: &[
            &[
                ("Cargo.toml", LAWFUL),
                ("crates/views/Cargo.toml", "package.name = \"views\""),
            ],
            &[(
                "Cargo.toml",
                "[workspace.lints.rust]\nunsafe_code = \"deny\"",
            )],
        ],
        kept: &[
            ("Cargo.toml", LAWFUL),
            ("crates/views/Cargo.toml", LAWFUL_CRATE),
        ],
    },
    Rule {
        says: "every crate has a README of five to fifteen lines",
        find: manifest::readmes,
        broken: &[
            &[("crates/views/Cargo.toml", LAWFUL_CRATE)],
            &[
                ("crates/views/Cargo.toml", LAWFUL_CRATE),
                ("crates/views/README.md", "# views\n"),
            ],
        ],
        kept: &[
            ("crates/views/Cargo.toml", LAWFUL_CRATE),
            (
                "crates/views/README.md",
                "# views\n\nText.\n\n- It is pure.\n",
            ),
        ],
    },
    Rule {
        says: "every crate has the licence of the whole",
        find: manifest::licences,
        broken: &[
            &[("Cargo.toml", LAWFUL), ("LICENSE-MIT", "")],
            &[
                ("Cargo.toml", ""),
                ("LICENSE-MIT", ""),
                ("LICENSE-APACHE", ""),
            ],
            &[
                ("Cargo.toml", LAWFUL),
                ("LICENSE-MIT", ""),
                ("LICENSE-APACHE", ""),
                (
                    "crates/views/Cargo.toml",
                    "[package]\nname = \"views\"\nlicense = \"MIT\"",
                ),
            ],
        ],
        kept: &[
            ("Cargo.toml", LAWFUL),
            ("LICENSE-MIT", ""),
            ("LICENSE-APACHE", ""),
            ("crates/views/Cargo.toml", LAWFUL_CRATE),
        ],
    },
    Rule {
        says: "the lock file is short and names one registry",
        find: manifest::lock_file,
        broken: &[
            &[("README.md", "")],
            &[(
                "Cargo.lock",
                "source = \"registry+https://mirror.example/index\"",
            )],
            &[("Cargo.lock", "source = \"git+https://git.example/a\"")],
            &[("Cargo.lock", "⟨999 packages⟩")],
        ],
        kept: &[("Cargo.lock", "[[package]]\n[[package]]\n")],
    },
    Rule {
        says: "the engine does without std",
        find: purity::engine_without_std,
        broken: &[
            &[("crates/engine/src/lib.rs", "extern crate alloc;")],
            &[("crates/engine/src/run.rs", "extern crate std;")],
            &[("crates/engine/src/run.rs", "use std::time::Instant;")],
            &[(
                "crates/engine/src/run.rs",
                "#[cfg(test)]\nmod tests;\nfn a() { ::std::fs::read(b) }",
            )],
        ],
        kept: &[
            (
                "crates/engine/src/lib.rs",
                "#![no_std]\nextern crate alloc;",
            ),
            (
                "crates/engine/src/run.rs",
                "// std::fs\n#[cfg(test)]\nmod tests { use std::fs; }",
            ),
        ],
    },
    Rule {
        says: "a pure crate names nothing that reaches outside",
        find: purity::pure_sources,
        broken: &[
            &[("crates/language/src/a.rs", "use std::fs;")],
            &[(
                "crates/views/src/a.rs",
                "use std::{collections::BTreeMap, env};",
            )],
            &[("crates/hosts/src/a.rs", "use std::{io, process::{self}};")],
            &[("crates/hosts/src/a.rs", "fn a() { ::std::net::b() }")],
            &[("crates/views/src/a.rs", "use std::time::SystemTime;")],
            &[("crates/views/src/a.rs", "fn a(b: Instant) {}")],
        ],
        kept: &[
            ("crates/store/src/a.rs", "use std::fs;"),
            (
                "crates/views/src/a.rs",
                "use std::{fmt, iter};\nstruct Instantly;\nconst A: &str = env!(\"B\");",
            ),
        ],
    },
    Rule {
        says: "there are at most ten integration test binaries",
        find: manifest::test_binaries,
        broken: &[&[
            ("crates/a/tests/a.rs", ""),
            ("crates/a/tests/b.rs", ""),
            ("crates/a/tests/c.rs", ""),
            ("crates/a/tests/d/main.rs", ""),
            ("crates/b/tests/a.rs", ""),
            ("crates/b/tests/b.rs", ""),
            ("crates/b/tests/c.rs", ""),
            ("crates/b/tests/d/main.rs", ""),
            ("xtask/tests/a.rs", ""),
            ("xtask/tests/b.rs", ""),
            ("xtask/tests/c/main.rs", ""),
        ]],
        kept: &[
            ("crates/a/tests/a.rs", ""),
            ("crates/a/tests/b/main.rs", ""),
            ("crates/a/tests/b/c.rs", ""),
            ("crates/a/tests/b/d/mod.rs", ""),
            ("crates/a/tests/b/e.rs", ""),
            ("crates/a/tests/b/f.rs", ""),
            ("crates/a/tests/b/g.rs", ""),
            ("crates/a/tests/b/h.rs", ""),
            ("crates/a/src/b/tests/main.rs", ""),
            ("crates/a/src/tests/main.rs", ""),
            ("crates/a/src/c.rs", ""),
            ("crates/a/src/d.rs", ""),
        ],
    },
    Rule {
        says: "clippy watches over what a pure crate calls",
        find: purity::pure_lints,
        broken: &[
            &[("crates/hosts/Cargo.toml", "")],
            &[
                ("crates/hosts/Cargo.toml", ""),
                (
                    "crates/hosts/clippy.toml",
                    "disallowed-methods = [\"std::fs::read\"]",
                ),
            ],
        ],
        kept: &[("crates/store/Cargo.toml", "")],
    },
    Rule {
        says: "every row of docs/seeds.md names a test or a scenario that is there",
        find: wishes::shown,
        broken: &[
            &[("docs/seeds.md", "| wish | place | none yet |\n")],
            &[("docs/seeds.md", "| wish | `host::flow::it_works` |\n")],
            &[(
                "docs/seeds.md",
                "| wish | place | `host::flow::it_works` |\n",
            )],
            &[
                (
                    "docs/seeds.md",
                    "| wish | place | `host::flow::it_works` |\n",
                ),
                ("crates/a/tests/host/flow.rs", "fn it_works() {}\n"),
            ],
            &[
                ("docs/seeds.md", "| wish | place | `story.md: It works` |\n"),
                ("crates/scenario/scenarios/story.md", "## It works well\n"),
            ],
        ],
        kept: &[
            (
                "docs/seeds.md",
                "| wish | where | shown by |\n| --- | --- | --- |\n\
                 | wish | place | `host::flow::it_works`, `story.md: It works` |\n",
            ),
            (
                "crates/a/tests/host/flow.rs",
                "//! Flow.\n#[test]\nfn it_works() {}\n",
            ),
            ("crates/scenario/scenarios/story.md", "## It works\n"),
        ],
    },
    Rule {
        says: "messages, docs and prompts are in plain English, and the list of exceptions only shrinks",
        find: voice::plain,
        broken: &[
            &[("crates/a/src/lib.rs", "/// Whoever asks.\nfn f() {}\n")],
            &[("crates/a/src/lib.rs", "//! It is looked at later.\n")],
            &[(
                "crates/a/src/lib.rs",
                "const A: &str = \"the file is no JSON\";\n",
            )],
            &[(
                "crates/a/src/lib.rs",
                "const A: &str = \"a run \\\n    wants a task\";\n",
            )],
            &[("crates/a/src/lib.rs", "const A: &str = \"say «go on»\";\n")],
            &[(
                "crates/a/src/lib.rs",
                "const A: &str = r#\"mend \"it\" first\"#;\n",
            )],
            &[("docs/a.md", "The session is told why.\n")],
            &[("README.md", "Disk full: the world is in the way.\n")],
            &[(
                "crates/language/builtin/a.toml",
                "prompt = \"end what is left of it\"\n",
            )],
            &[("crates/language/builtin/a/b.md.j2", "These are no tasks.\n")],
            &[
                ("docs/a.md", "Mend it, whoever you are.\n"),
                (voice::LIST, "1 docs/a.md\n"),
            ],
            &[("docs/a.md", "Mend it.\n"), (voice::LIST, "2 docs/a.md\n")],
            &[(voice::LIST, "1 docs/gone.md\n")],
        ],
        kept: &[
            (
                "crates/a/src/lib.rs",
                "//! There is no run. It is no longer open. The answer is no, and `whoever` is a name.\n\
                 // Whoever reads this.\nconst A: &str = \"a person wants to wait; recommend it\";\n\
                 fn f() { mend(wants) }\n#[cfg(test)]\nmod tests {\n    const B: &str = \"mend\";\n}\n",
            ),
            ("crates/a/tests/all.rs", "const A: &str = \"is told\";\n"),
            (
                "docs/a.md",
                "Amendments are told apart? No, whoever asks: mend them.\n",
            ),
            (voice::LIST, "2 docs/a.md\n"),
        ],
    },
];
