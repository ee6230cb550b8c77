//! What a host is given: slash commands and files.

use expect_test::expect;

use super::{Case, case, whole};

/// A definition in which a person is asked, with this command.
fn command(act: &str, expected: expect_test::Expect) -> Case {
    let text = format!(
        "name='a'\nabout='b'\nstart='s'\ncommands.go = '{act}'\n\
         stages.s = {{ agent = 'x', on.done = 'q' }}\n\
         stages.q = {{ ask = 'well?', on.approve = 'e', on.stop = 'e', on.timeout = 'e' }}\n\
         stages.e.end = 'completed'\n\
         prove = [{{ name = 'p', before = 'e', through = 'q' }}]\n"
    );
    whole("p.toml", text, expected)
}

pub(super) fn cases() -> Vec<Case> {
    vec![
        case(
            "commands.go = 'strat'",
            expect![[r#"
            error[GW-L114]: no command can `strat`
             --> p.toml:1:15
              |
            1 | commands.go = 'strat'
              |               ^^^^^^^
              = help: did you mean `start`?
        "#]],
        ),
        case(
            "commands.go = 'approve'",
            expect![[r#"
            error[GW-L114]: no command can `approve`
             --> p.toml:1:15
              |
            1 | commands.go = 'approve'
              |               ^^^^^^^^^
              = help: write `start`, `answer`, `finish`, `retry`, `cancel` or `reset`
        "#]],
        ),
        case(
            "commands.go = 'cancel now'",
            expect![[r#"
                error[GW-L114]: no command can `cancel now`
                 --> p.toml:1:15
                  |
                1 | commands.go = 'cancel now'
                  |               ^^^^^^^^^^^^
                  = help: only `answer` takes a choice: write `cancel`
            "#]],
        ),
        case(
            "commands.go = 'answer a b'",
            expect![[r#"
            error[GW-L122]: `a b` is not a name: a name cannot contain ' '
             --> p.toml:1:15
              |
            1 | commands.go = 'answer a b'
              |               ^^^^^^^^^^^^
              = help: use letters, digits, `-` and `_`, and begin with a letter or a digit
        "#]],
        ),
        case(
            "commands.go = ['start']",
            expect![[r#"
            error[GW-L113]: expected a text, found a list
             --> p.toml:1:15
              |
            1 | commands.go = ['start']
              |               ^^^^^^^^^
              = help: write it in quotes
        "#]],
        ),
        case(
            "commands = { '/go' = 'start' }",
            expect![[r#"
                error[GW-L122]: `/go` starts with a slash
                 --> p.toml:1:14
                  |
                1 | commands = { '/go' = 'start' }
                  |              ^^^^^
                  = help: write `go`
            "#]],
        ),
        case(
            "commands = { 'go on' = 'start' }",
            expect![[r#"
            error[GW-L122]: `go on` is not a name: a name cannot contain ' '
             --> p.toml:1:14
              |
            1 | commands = { 'go on' = 'start' }
              |              ^^^^^^^
              = help: use letters, digits, `-` and `_`, and begin with a letter or a digit
        "#]],
        ),
        case(
            "ignores = ['# all']",
            expect![[r#"
                error[GW-L134]: `# all` is not a pattern for git
                 --> p.toml:1:12
                  |
                1 | ignores = ['# all']
                  |            ^^^^^^^
                  = help: write one pattern without spaces around it, such as `*.bundle.md` or `.task/`
            "#]],
        ),
        case(
            "ignores = ['**/*']",
            expect![[r#"
                error[GW-L134]: `**/*` would hide everything from git
                 --> p.toml:1:12
                  |
                1 | ignores = ['**/*']
                  |            ^^^^^^
                  = help: gates check only what git sees: name only files that nobody commits
            "#]],
        ),
        case(
            "ignores = ['a ']",
            expect![[r#"
                error[GW-L134]: `a ` is not a pattern for git
                 --> p.toml:1:12
                  |
                1 | ignores = ['a ']
                  |            ^^^^
                  = help: write one pattern without spaces around it, such as `*.bundle.md` or `.task/`
            "#]],
        ),
        case(
            "litter = ['/tmp/x']",
            expect![[r#"
            error[GW-L136]: `/tmp/x` is not a path pattern in the project
             --> p.toml:1:11
              |
            1 | litter = ['/tmp/x']
              |           ^^^^^^^^
              = help: write a path with `*` and `**`, such as `reports/**` or `**/*.profraw`
        "#]],
        ),
        case(
            "litter = ['../out/**']",
            expect![[r#"
            error[GW-L136]: `../out/**` is not a path pattern in the project
             --> p.toml:1:11
              |
            1 | litter = ['../out/**']
              |           ^^^^^^^^^^^
              = help: write a path with `*` and `**`, such as `reports/**` or `**/*.profraw`
        "#]],
        ),
        case(
            "litter = ['**/*']",
            expect![[r#"
            error[GW-L136]: `**/*` would hide sources from every gate
             --> p.toml:1:11
              |
            1 | litter = ['**/*']
              |           ^^^^^^
              = help: name the folder or the ending of what a tool leaves behind
        "#]],
        ),
        case(
            "litter = ['!src']",
            expect![[r#"
            error[GW-L136]: `!src` is not a path pattern in the project
             --> p.toml:1:11
              |
            1 | litter = ['!src']
              |           ^^^^^^
              = help: write a path with `*` and `**`, such as `reports/**` or `**/*.profraw`
        "#]],
        ),
        case(
            "protocol = '../x.md'",
            expect![[r#"
                error[GW-L130]: `../x.md` is not next to the definition
                 --> p.toml:1:12
                  |
                1 | protocol = '../x.md'
                  |            ^^^^^^^^^
                  = help: put the file next to the definition or below it, and write its path with `/`
            "#]],
        ),
        case(
            "protocol = 'gone.md'",
            expect![[r#"
                error[GW-L131]: there is no file `gone.md`
                 --> p.toml:1:12
                  |
                1 | protocol = 'gone.md'
                  |            ^^^^^^^^^
                  = help: create it, relative to the definition, or fix the path
            "#]],
        ),
        case(
            "protocol = 'blank.md'",
            expect![[r#"
                error[GW-L135]: this protocol is empty
                 --> p.toml:1:12
                  |
                1 | protocol = 'blank.md'
                  |            ^^^^^^^^^^
                  = help: write a text, or remove the key
            "#]],
        ),
        case(
            "protocol = 'marked.md'",
            expect![[r#"
                error[GW-L135]: this protocol contains a mark of Gatewright
                 --> p.toml:1:12
                  |
                1 | protocol = 'marked.md'
                  |            ^^^^^^^^^^^
                  = help: remove the lines with `<!-- gatewright`: `init` writes them
            "#]],
        ),
        case(
            "protocol = 'latin.json'",
            expect![[r#"
                error[GW-L101]: `latin.json` is not UTF-8 text
                 --> p.toml:1:12
                  |
                1 | protocol = 'latin.json'
                  |            ^^^^^^^^^^^^
                  = help: save it as UTF-8
            "#]],
        ),
        case(
            "gives = ['x.md']",
            expect![[r#"
            error[GW-L133]: a host has no place for `x.md`
             --> p.toml:1:10
              |
            1 | gives = ['x.md']
              |          ^^^^^^
              = help: write `agents/NAME.md`, `commands/NAME.md` or `skills/NAME/SKILL.md`
        "#]],
        ),
        case(
            "gives = ['agents/x.txt']",
            expect![[r#"
            error[GW-L133]: a host has no place for `agents/x.txt`
             --> p.toml:1:10
              |
            1 | gives = ['agents/x.txt']
              |          ^^^^^^^^^^^^^^
              = help: write `agents/NAME.md`, `commands/NAME.md` or `skills/NAME/SKILL.md`
        "#]],
        ),
        case(
            "gives = ['skills/x.md']",
            expect![[r#"
            error[GW-L133]: a host has no place for `skills/x.md`
             --> p.toml:1:10
              |
            1 | gives = ['skills/x.md']
              |          ^^^^^^^^^^^^^
              = help: write `agents/NAME.md`, `commands/NAME.md` or `skills/NAME/SKILL.md`
        "#]],
        ),
        case(
            "gives = ['agents/.x.md']",
            expect![[r#"
            error[GW-L133]: a host has no place for `agents/.x.md`
             --> p.toml:1:10
              |
            1 | gives = ['agents/.x.md']
              |          ^^^^^^^^^^^^^^
              = help: write `agents/NAME.md`, `commands/NAME.md` or `skills/NAME/SKILL.md`
        "#]],
        ),
        case(
            "gives = ['agents/../../x.md']",
            expect![[r#"
                error[GW-L130]: `agents/../../x.md` is not next to the definition
                 --> p.toml:1:10
                  |
                1 | gives = ['agents/../../x.md']
                  |          ^^^^^^^^^^^^^^^^^^^
                  = help: put the file next to the definition or below it, and write its path with `/`
            "#]],
        ),
        case(
            "gives = ['/agents/x.md']",
            expect![[r#"
                error[GW-L130]: `/agents/x.md` is not next to the definition
                 --> p.toml:1:10
                  |
                1 | gives = ['/agents/x.md']
                  |          ^^^^^^^^^^^^^^
                  = help: put the file next to the definition or below it, and write its path with `/`
            "#]],
        ),
        case(
            "gives = ['agents/x.md']",
            expect![[r#"
                error[GW-L131]: there is no file `agents/x.md`
                 --> p.toml:1:10
                  |
                1 | gives = ['agents/x.md']
                  |          ^^^^^^^^^^^^^
                  = help: create it, relative to the definition, or fix the path
            "#]],
        ),
        case(
            "gives = ['agents/latin.md']",
            expect![[r#"
            error[GW-L101]: `agents/latin.md` is not UTF-8 text
             --> p.toml:1:10
              |
            1 | gives = ['agents/latin.md']
              |          ^^^^^^^^^^^^^^^^^
              = help: save it as UTF-8
        "#]],
        ),
        command(
            "answer aprove",
            expect![[r#"
            error[GW-L212]: no question has the choice `aprove`
             --> p.toml:4:15
              |
            4 | commands.go = 'answer aprove'
              |               ^^^^^^^^^^^^^^^
              = help: did you mean `approve`?
        "#]],
        ),
        command(
            "answer never",
            expect![[r#"
            error[GW-L212]: no question has the choice `never`
             --> p.toml:4:15
              |
            4 | commands.go = 'answer never'
              |               ^^^^^^^^^^^^^^
              = help: known here: approve, stop
        "#]],
        ),
        command(
            "answer timeout",
            expect![[r#"
            error[GW-L212]: no question has the choice `timeout`
             --> p.toml:4:15
              |
            4 | commands.go = 'answer timeout'
              |               ^^^^^^^^^^^^^^^^
              = help: known here: approve, stop
        "#]],
        ),
        command(
            "finish",
            expect![[r#"
            error[GW-L212]: no stage can be finished
             --> p.toml:4:15
              |
            4 | commands.go = 'finish'
              |               ^^^^^^^^
              = help: add `on.finish` to an open stage, or remove the command
        "#]],
        ),
    ]
}
