//! Values of the wrong type, out of range, or misspelled.

use expect_test::expect;

use super::{Case, case};

pub(super) fn cases() -> Vec<Case> {
    vec![
        case(
            "carry = ['../x']",
            expect![[r#"
                error[GW-L137]: `../x` is not a path pattern in the project
                 --> p.toml:1:10
                  |
                1 | carry = ['../x']
                  |          ^^^^^^
                  = help: write a path in the project, such as `node_modules` or `.env`
            "#]],
        ),
        case(
            "carry = ['*']",
            expect![[r#"
                error[GW-L137]: `*` would carry everything
                 --> p.toml:1:10
                  |
                1 | carry = ['*']
                  |          ^^^
                  = help: name what the work needs, such as `node_modules` or `.env`
            "#]],
        ),
        case(
            "carry_back = ['a*']",
            expect![[r#"
                error[GW-L137]: `a*` is a pattern, not a path
                 --> p.toml:1:15
                  |
                1 | carry_back = ['a*']
                  |               ^^^^
                  = help: name each path that comes back
            "#]],
        ),
        case(
            "place = 'tree'\ndeliver = 'branch'",
            expect![[r#"
                error[GW-L138]: a run in your own tree has no branch to deliver
                 --> p.toml:2:11
                  |
                2 | deliver = 'branch'
                  |           ^^^^^^^^
                  = help: write place = "branch", or remove `deliver`
            "#]],
        ),
        case(
            "deliver = { as = 'pull-request', request = 'hub' }",
            expect![[r#"
                error[GW-L139]: this does not make a request to merge
                 --> p.toml:1:44
                  |
                1 | deliver = { as = 'pull-request', request = 'hub' }
                  |                                            ^^^^^
                  = help: write "gh", "glab", or a command, such as ["tools/request", "{branch}", "{base}", "{title}", "{body}"]
            "#]],
        ),
        case(
            "deliver = { as = 'pull-request', request = ['ask', '--title={titel}', '{body}'] }",
            expect![[r#"
                error[GW-L139]: nothing fills {titel} in this request
                 --> p.toml:1:44
                  |
                1 | deliver = { as = 'pull-request', request = ['ask', '--title={titel}', '{body}'] }
                  |                                            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
                  = help: the placeholders are {branch}, {base}, {title}, {body}, {text}
            "#]],
        ),
        case(
            "ttl = 1979-05-27",
            expect![[r#"
                error[GW-L113]: expected a time, found a date
                 --> p.toml:1:7
                  |
                1 | ttl = 1979-05-27
                  |       ^^^^^^^^^^
                  = help: write a number and a unit, such as "90s", "30m", "2h" or "7d"
            "#]],
        ),
        case(
            "groups.g = 'x'",
            expect![[r#"
                error[GW-L113]: expected a list, found a text
                 --> p.toml:1:12
                  |
                1 | groups.g = 'x'
                  |            ^^^
                  = help: write it in brackets, such as ["…"]
            "#]],
        ),
        case(
            "begins = 'sesion'",
            expect![[r#"
            error[GW-L114]: `sesion` is not known here
             --> p.toml:1:10
              |
            1 | begins = 'sesion'
              |          ^^^^^^^^
              = help: did you mean `session`?
        "#]],
        ),
        case(
            "mode = 'strict'",
            expect![[r#"
            error[GW-L114]: `strict` is not known here
             --> p.toml:1:8
              |
            1 | mode = 'strict'
              |        ^^^^^^^^
              = help: write `enforced` or `advisory`
        "#]],
        ),
        case(
            "settings = ' '",
            expect![[r#"
                error[GW-L115]: this text is empty
                 --> p.toml:1:12
                  |
                1 | settings = ' '
                  |            ^^^
                  = help: write a text, or remove the key
            "#]],
        ),
        case(
            "artifacts.a = { from = 'reply', outcome = { field = 'x', values = [] } }",
            expect![[r#"
                error[GW-L115]: this list of outcomes is empty
                 --> p.toml:1:67
                  |
                1 | artifacts.a = { from = 'reply', outcome = { field = 'x', values = [] } }
                  |                                                                   ^^
                  = help: name the values that the field may have
            "#]],
        ),
        case(
            "counters.c = { max = -1, then = 's' }",
            expect![[r#"
            error[GW-L116]: -1 is out of range
             --> p.toml:1:22
              |
            1 | counters.c = { max = -1, then = 's' }
              |                      ^^
              = help: write a number from 0 to 4294967295
        "#]],
        ),
        case(
            "counters.c = { max = 99999999999999999999, then = 's' }",
            expect![[r#"
            error[GW-L116]: this number is too large
             --> p.toml:1:22
              |
            1 | counters.c = { max = 99999999999999999999, then = 's' }
              |                      ^^^^^^^^^^^^^^^^^^^^
              = help: write a smaller number
        "#]],
        ),
        case(
            "counters.c = { max = '3', then = 's' }",
            expect![[r#"
            error[GW-L113]: expected a whole number or a parameter in braces, found a text
             --> p.toml:1:22
              |
            1 | counters.c = { max = '3', then = 's' }
              |                      ^^^
              = help: write a number without quotes, or a parameter as "{name}"
        "#]],
        ),
        case(
            "artifacts.a = { from = 'reply', max_bytes = 5000000 }",
            expect![[r#"
            error[GW-L116]: 5000000 is out of range
             --> p.toml:1:45
              |
            1 | artifacts.a = { from = 'reply', max_bytes = 5000000 }
              |                                             ^^^^^^^
              = help: write a number from 1 to 4194304
        "#]],
        ),
        case(
            "groups.'my group' = []",
            expect![[r#"
            error[GW-L122]: `my group` is not a name: a name cannot contain ' '
             --> p.toml:1:8
              |
            1 | groups.'my group' = []
              |        ^^^^^^^^^^
              = help: use letters, digits, `-` and `_`, and begin with a letter or a digit
        "#]],
        ),
        case(
            "ttl = 30",
            expect![[r#"
                error[GW-L123]: the time 30 has no unit
                 --> p.toml:1:7
                  |
                1 | ttl = 30
                  |       ^^
                  = help: write a number and a unit, such as "90s", "30m", "2h" or "7d"
            "#]],
        ),
        case(
            "ttl = '30 minutes'",
            expect![[r#"
                error[GW-L123]: `30 minutes` is not a time
                 --> p.toml:1:7
                  |
                1 | ttl = '30 minutes'
                  |       ^^^^^^^^^^^^
                  = help: write a number and a unit, such as "90s", "30m", "2h" or "7d"
            "#]],
        ),
        case(
            "budget.cost = '5 dollars'",
            expect![[r#"
                error[GW-L124]: `5 dollars` is not a cost
                 --> p.toml:1:15
                  |
                1 | budget.cost = '5 dollars'
                  |               ^^^^^^^^^^^
                  = help: write dollars, such as "5.00" or 5
            "#]],
        ),
        case(
            "stages.t = { check = { from = 'story' } }",
            expect![[r#"
                error[GW-L125]: `story` is not a field of an artifact
                 --> p.toml:1:31
                  |
                1 | stages.t = { check = { from = 'story' } }
                  |                               ^^^^^^^
                  = help: write the artifact and its field, such as "story.test_criteria.commands"
            "#]],
        ),
        case(
            "stages.t = { agent = 'x', on.done = '@interupted' }",
            expect![[r#"
            error[GW-L126]: `@interupted` is not a target
             --> p.toml:1:37
              |
            1 | stages.t = { agent = 'x', on.done = '@interupted' }
              |                                     ^^^^^^^^^^^^^
              = help: did you mean `@interrupted`?
        "#]],
        ),
        case(
            "stages.t = { agent = 'x', on.done = '{mode' }",
            expect![[r#"
            error[GW-L126]: `{mode` is not a target
             --> p.toml:1:37
              |
            1 | stages.t = { agent = 'x', on.done = '{mode' }
              |                                     ^^^^^^^
              = help: write a stage, "@interrupted", or a parameter as "{name}"
        "#]],
        ),
        case(
            "stages.t = { check = 'npm test' }",
            expect![[r#"
            error[GW-L113]: expected a list of commands, found a text
             --> p.toml:1:22
              |
            1 | stages.t = { check = 'npm test' }
              |                      ^^^^^^^^^^
              = help: write ["program argument"] or { from = "artifact.field" }
        "#]],
        ),
        case(
            "stages.t = { check = [\"echo 'x\"] }",
            expect![[r#"
                error[GW-L127]: a ' in this command is not closed
                 --> p.toml:1:23
                  |
                1 | stages.t = { check = ["echo 'x"] }
                  |                       ^^^^^^^^^
                  = help: close the quote, or write the words as a list
            "#]],
        ),
        case(
            "stages.t = { check = ['npm test && npm run lint'] }",
            expect![[r#"
                error[GW-L128]: no shell runs this command, so `&` has no effect
                 --> p.toml:1:23
                  |
                1 | stages.t = { check = ['npm test && npm run lint'] }
                  |                       ^^^^^^^^^^^^^^^^^^^^^^^^^^
                  = help: write one command per entry, quote the character if you mean it literally, or write a list, such as ["sh", "-c", "…"]
            "#]],
        ),
    ]
}
