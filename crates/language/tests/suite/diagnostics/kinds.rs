//! Stages without a kind, with two, or with another kind's keys.

use expect_test::expect;

use super::{Case, case};

pub(super) fn cases() -> Vec<Case> {
    vec![
        case(
            "stages.t = {}",
            expect![[r#"
                error[GW-L120]: the stage `t` has no kind
                 --> p.toml:1:12
                  |
                1 | stages.t = {}
                  |            ^^
                  = help: add one of `agent`, `allow`, `check`, `ask`, `review`, `steps`, `route` or `end`
            "#]],
        ),
        case(
            "stages.t = { on.done = 's', colour = 'red', retries = 3 }",
            expect![[r#"
                error[GW-L120]: the stage `t` has no kind
                 --> p.toml:1:12
                  |
                1 | stages.t = { on.done = 's', colour = 'red', retries = 3 }
                  |            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
                  = help: add one of `agent`, `allow`, `check`, `ask`, `review`, `steps`, `route` or `end`

                error[GW-L110]: a stage has no key `colour`
                 --> p.toml:1:29
                  |
                1 | stages.t = { on.done = 's', colour = 'red', retries = 3 }
                  |                             ^^^^^^
                  = help: remove it; `gatewright schema` prints all keys

                error[GW-L110]: a stage has no key `retries`
                 --> p.toml:1:45
                  |
                1 | stages.t = { on.done = 's', colour = 'red', retries = 3 }
                  |                                             ^^^^^^^
                  = help: remove it; `gatewright schema` prints all keys
            "#]],
        ),
        case(
            "stages.t = { agnet = 'x' }",
            expect![[r#"
            error[GW-L110]: a stage has no key `agnet`
             --> p.toml:1:14
              |
            1 | stages.t = { agnet = 'x' }
              |              ^^^^^
              = help: did you mean `agent`?
        "#]],
        ),
        case(
            "stages.t = { agent = 'x', check = ['y'] }",
            expect![[r#"
                error[GW-L121]: the stage `t` has more than one kind: `agent` and `check`
                 --> p.toml:1:12
                  |
                1 | stages.t = { agent = 'x', check = ['y'] }
                  |            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
                  = help: keep one of these keys, and move the other to its own stage
            "#]],
        ),
        case(
            "stages.t = { agent = 'x', panel = [] }",
            expect![[r#"
            error[GW-L111]: `panel` belongs to a review stage, and this is an agent stage
             --> p.toml:1:27
              |
            1 | stages.t = { agent = 'x', panel = [] }
              |                           ^^^^^
              = help: remove it; `agent` makes this an agent stage
        "#]],
        ),
        case(
            "stages.t = { check = ['x'], reads = ['y'] }",
            expect![[r#"
            error[GW-L111]: `reads` belongs to an agent stage or a review stage or a steps stage, and this is a check stage
             --> p.toml:1:29
              |
            1 | stages.t = { check = ['x'], reads = ['y'] }
              |                             ^^^^^
              = help: remove it; `check` makes this a check stage
        "#]],
        ),
        case(
            "stages.t = 'x'",
            expect![[r#"
            error[GW-L113]: expected a table, found a text
             --> p.toml:1:12
              |
            1 | stages.t = 'x'
              |            ^^^
              = help: write it in braces, or under a header
        "#]],
        ),
        case(
            "stages.t = { review = 'x', rounds = 3, panel = [{ agnet = 'y' }] }",
            expect![[r#"
            error[GW-L112]: a reviewer has no `leaves`
             --> p.toml:1:49
              |
            1 | stages.t = { review = 'x', rounds = 3, panel = [{ agnet = 'y' }] }
              |                                                 ^^^^^^^^^^^^^^^
              = help: add `leaves`: The artifact with its verdict.

            error[GW-L110]: a reviewer has no key `agnet`
             --> p.toml:1:51
              |
            1 | stages.t = { review = 'x', rounds = 3, panel = [{ agnet = 'y' }] }
              |                                                   ^^^^^
              = help: did you mean `agent`?
        "#]],
        ),
    ]
}
