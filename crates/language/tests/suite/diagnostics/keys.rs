//! Keys that are unknown, missing or in the wrong company.

use expect_test::expect;

use super::{Case, case};

pub(super) fn cases() -> Vec<Case> {
    vec![
        case(
            "abuot = 1",
            expect![[r#"
            error[GW-L110]: the pipeline has no key `abuot`
             --> p.toml:1:1
              |
            1 | abuot = 1
              | ^^^^^
              = help: did you mean `about`?
        "#]],
        ),
        case(
            "budget = { money = 1 }",
            expect![[r#"
            error[GW-L110]: a budget has no key `money`
             --> p.toml:1:12
              |
            1 | budget = { money = 1 }
              |            ^^^^^
              = help: a budget has `turns`, `tokens`, `cost` and `time`
        "#]],
        ),
        case(
            "stages.t = { agent = 'x', colour = 'red' }",
            expect![[r#"
            error[GW-L110]: an agent stage has no key `colour`
             --> p.toml:1:27
              |
            1 | stages.t = { agent = 'x', colour = 'red' }
              |                           ^^^^^^
              = help: remove it; `gatewright schema` prints all keys
        "#]],
        ),
        case(
            "counters.c = { max = 1 }",
            expect![[r#"
                error[GW-L112]: a counter has no `then`
                 --> p.toml:1:14
                  |
                1 | counters.c = { max = 1 }
                  |              ^^^^^^^^^^^
                  = help: add `then`: The stage that follows when the counter is full.
            "#]],
        ),
        case(
            "artifacts.a = {}",
            expect![[r#"
                error[GW-L112]: an artifact has neither `path` nor `from`
                 --> p.toml:1:15
                  |
                1 | artifacts.a = {}
                  |               ^^
                  = help: add `path`, a file in the project, or `from = "reply"`

                error[GW-L112]: an artifact has no `format`
                 --> p.toml:1:15
                  |
                1 | artifacts.a = {}
                  |               ^^
                  = help: add `format`: `bundle` is Markdown with YAML front matter. A reply and answers are `json` by default.
            "#]],
        ),
        case(
            "artifacts.a = { path = 'x', from = 'reply' }",
            expect![[r#"
                error[GW-L117]: an artifact has both `path` and `from`
                 --> p.toml:1:36
                  |
                1 | artifacts.a = { path = 'x', from = 'reply' }
                  |                                    ^^^^^^^
                  = help: keep one of the two
            "#]],
        ),
        case(
            "artifacts.a = { path = 'x', format = 'text', schema = {} }",
            expect![[r#"
            error[GW-L117]: only a json artifact has a schema
             --> p.toml:1:55
              |
            1 | artifacts.a = { path = 'x', format = 'text', schema = {} }
              |                                                       ^^
              = help: write `format = "json"`, or name the fields in `require`
        "#]],
        ),
        case(
            "prove = [{ name = 'x' }]",
            expect![[r#"
            error[GW-L112]: this proof claims nothing
             --> p.toml:1:10
              |
            1 | prove = [{ name = 'x' }]
              |          ^^^^^^^^^^^^^^
              = help: add `before` and `through`, or `agent` and `only_after`
        "#]],
        ),
        case(
            "prove = [{ name = 'x', agent = 'y', before = 's' }]",
            expect![[r#"
                error[GW-L112]: a proof has no `only_after`
                 --> p.toml:1:10
                  |
                1 | prove = [{ name = 'x', agent = 'y', before = 's' }]
                  |          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
                  = help: add `only_after`: The agent that must have ended well before.

                error[GW-L117]: `before` is for a proof about stages, but this proof is about an agent
                 --> p.toml:1:46
                  |
                1 | prove = [{ name = 'x', agent = 'y', before = 's' }]
                  |                                              ^^^
                  = help: write two proofs: `before` with `through`, and `agent` with `only_after`
            "#]],
        ),
        case(
            "stages.t = { ask = 'x', from = 'a.b' }",
            expect![[r#"
                error[GW-L112]: an ask stage has no `leaves`
                 --> p.toml:1:12
                  |
                1 | stages.t = { ask = 'x', from = 'a.b' }
                  |            ^^^^^^^^^^^^^^^^^^^^^^^^^^^
                  = help: add `leaves`: The artifact for the answers to a worker's questions, or for what a person says with a choice.
            "#]],
        ),
        case(
            "stages.t = { ask = 'x', leaves = 'a' }",
            expect![[r#"
                error[GW-L202]: there is no artifact `a`
                 --> p.toml:1:34
                  |
                1 | stages.t = { ask = 'x', leaves = 'a' }
                  |                                  ^^^
                  = help: this definition has no artifact: declare it
            "#]],
        ),
        case(
            "settings = 's.json'\ngroups.g = { always = ['x'] }",
            expect![[r#"
                error[GW-L112]: a group has no `setting`
                 --> p.toml:2:12
                  |
                2 | groups.g = { always = ['x'] }
                  |            ^^^^^^^^^^^^^^^^^^
                  = help: add `setting`: The dotted field of the settings file that lists more of them.
            "#]],
        ),
        case(
            "groups.g = { always = ['x'], setting = 'agents.g' }",
            expect![[r#"
                error[GW-L112]: the group `g` needs a settings file
                 --> p.toml:1:8
                  |
                1 | groups.g = { always = ['x'], setting = 'agents.g' }
                  |        ^
                  = help: name it above: settings = "pipeline.config.json"
            "#]],
        ),
        case(
            "settings = 's.json'\ngroups.g = { always = ['x'], setings = 'g', more = [] }",
            expect![[r#"
                error[GW-L110]: a group has no key `setings`
                 --> p.toml:2:30
                  |
                2 | groups.g = { always = ['x'], setings = 'g', more = [] }
                  |                              ^^^^^^^
                  = help: did you mean `setting`?

                error[GW-L110]: a group has no key `more`
                 --> p.toml:2:45
                  |
                2 | groups.g = { always = ['x'], setings = 'g', more = [] }
                  |                                             ^^^^
                  = help: a group has `always` and `setting`
            "#]],
        ),
    ]
}
