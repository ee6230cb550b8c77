//! Other definitions that a definition takes over.

use expect_test::expect;

use super::{Case, case};

pub(super) fn cases() -> Vec<Case> {
    vec![
        case(
            "extends = 'bsae.toml'",
            expect![[r#"
            error[GW-L140]: there is no pipeline `bsae.toml` to use
             --> p.toml:1:11
              |
            1 | extends = 'bsae.toml'
              |           ^^^^^^^^^^^
              = help: put the file next to this definition, and write its name without a folder
        "#]],
        ),
        case(
            "extends = 'multi'",
            expect![[r#"
            error[GW-L140]: there is no pipeline `multi` to use
             --> p.toml:1:11
              |
            1 | extends = 'multi'
              |           ^^^^^^^
              = help: write a file, such as `base.toml`, or one of ansible, context-first, multi-ai, phases
        "#]],
        ),
        case(
            "extends = 'circle.toml'",
            expect![[r#"
            error[GW-L141]: `circle.toml` uses itself: circle.toml uses circle.toml
             --> p.toml:1:11
              |
            1 | extends = 'circle.toml'
              |           ^^^^^^^^^^^^^
              = help: remove `extends` or `use` from one of them
        "#]],
        ),
        case(
            "use.q = { from = 'broken.toml' }",
            expect![[r#"
            error[GW-L142]: `broken.toml` has problems: there is no stage `gone` [GW-L201]
             --> p.toml:1:18
              |
            1 | use.q = { from = 'broken.toml' }
              |                  ^^^^^^^^^^^^^
              = help: `gatewright lint broken.toml` shows where
        "#]],
        ),
        case(
            "use.q = { from = 'base.toml', stages = ['w'] }",
            expect![[r#"
                error[GW-L143]: `base.toml` has no stage `w`
                 --> p.toml:1:41
                  |
                1 | use.q = { from = 'base.toml', stages = ['w'] }
                  |                                         ^^^
                  = help: did you mean `s`?
            "#]],
        ),
        case(
            "use.q = { from = 'base.toml', with = { w = 's' } }",
            expect![[r#"
                error[GW-L143]: `base.toml` has no stage, artifact, counter or parameter `w`
                 --> p.toml:1:44
                  |
                1 | use.q = { from = 'base.toml', with = { w = 's' } }
                  |                                            ^^^
                  = help: did you mean `s`?
            "#]],
        ),
        case(
            "use.q = { from = 'base.toml', stages = ['s'] }",
            expect![[r#"
                error[GW-L144]: `s` leads to `t`, which is neither brought nor replaced
                 --> p.toml:1:5
                  |
                1 | use.q = { from = 'base.toml', stages = ['s'] }
                  |     ^
                  = help: add it to `stages`, or write with.t = "…", a stage of this pipeline
            "#]],
        ),
        case(
            "extends = 'base.toml'\nwithout = ['stages.w']",
            expect![[r#"
                error[GW-L143]: `base.toml` has no `stages.w`
                 --> p.toml:2:12
                  |
                2 | without = ['stages.w']
                  |            ^^^^^^^^^^
                  = help: write the table and the name in it, such as `commands.multi-ai`
            "#]],
        ),
        case(
            "without = ['stages.w']",
            expect![[r#"
            error[GW-L143]: `without` is for a pipeline that extends another one
             --> p.toml:1:12
              |
            1 | without = ['stages.w']
              |            ^^^^^^^^^^
              = help: add `extends`, or remove it
        "#]],
        ),
    ]
}
