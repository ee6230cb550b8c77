//! Files that cannot be read at all.

use expect_test::expect;

use super::{Case, case, whole};

pub(super) fn cases() -> Vec<Case> {
    vec![
        whole(
            "p.toml",
            b"name = \"\xff\"",
            expect![[r#"
                error[GW-L101]: the file is not valid UTF-8 at byte 8
                 --> p.toml:1:9
                  |
                1 | name = "�"
                  |         ^
                  = help: save it as UTF-8
            "#]],
        ),
        whole(
            "p.toml",
            vec![b'#'; 1_048_577],
            expect![[r#"
                error[GW-L102]: the file has 1048577 bytes, but only 1048576 are allowed
                 --> p.toml
                  = help: move long texts to their own files and refer to them
            "#]],
        ),
        case(
            &format!("x = {}", "[".repeat(40)),
            expect![[r#"
                error[GW-L103]: this is nested more than 32 levels deep
                 --> p.toml:1:37
                  |
                1 | x = [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[
                  |                                     ^
                  = help: write a flat file: one table per stage
            "#]],
        ),
        case(
            "x = ",
            expect![[r#"
                error[GW-L104]: string values must be quoted, expected literal string
                 --> p.toml:1:5
                  |
                1 | x =
                  |     ^
                  = help: write it as TOML 1.1: texts in quotes, one key per line
            "#]],
        ),
        case(
            "x = 1\ny = 2\nx = 3",
            expect![[r#"
                error[GW-L105]: the key `x` is here twice
                 --> p.toml:3:1
                  |
                3 | x = 3
                  | ^
                  = help: keep one of the two
            "#]],
        ),
        whole(
            "p.json",
            "{\n  \"name\": \"a\",\n}",
            expect![[r#"
                error[GW-L104]: trailing commas are not allowed
                 --> p.json:2:14
                  |
                2 |   "name": "a",
                  |              ^
                  = help: write it as strict JSON: double quotes, no comments, no trailing comma
            "#]],
        ),
        whole(
            "p.json",
            "{\n  \"name\": \"a\",\n  \"name\": \"b\"\n}",
            expect![[r#"
                error[GW-L112]: the pipeline has no `about`
                 --> p.json:1:1
                  |
                1 | {
                  | ^
                  = help: add `about`: What the pipeline is for, in one sentence.

                error[GW-L112]: the pipeline has no `start`
                 --> p.json:1:1
                  |
                1 | {
                  | ^
                  = help: add `start`: The stage in which a run starts.

                error[GW-L112]: the pipeline has no `stages`
                 --> p.json:1:1
                  |
                1 | {
                  | ^
                  = help: add `stages`: The stages of a run.

                error[GW-L105]: the key `name` is here twice
                 --> p.json:3:3
                  |
                3 |   "name": "b"
                  |   ^^^^^^
                  = help: keep one of the two
            "#]],
        ),
        whole(
            "p.json",
            "",
            expect![[r#"
                error[GW-L104]: the file is empty
                 --> p.json:1:1
                  |
                1 | 
                  | ^
                  = help: write it as strict JSON: double quotes, no comments, no trailing comma
            "#]],
        ),
        whole(
            "p.json",
            "[]",
            expect![[r#"
            error[GW-L113]: expected a table, found a list
             --> p.json:1:1
              |
            1 | []
              | ^^
              = help: write it in braces, or under a header
        "#]],
        ),
        whole(
            "p.toml",
            "",
            expect![[r#"
                error[GW-L112]: the pipeline has no `name`
                 --> p.toml:1:1
                  |
                1 | 
                  | ^
                  = help: add `name`: The pipeline's name.

                error[GW-L112]: the pipeline has no `about`
                 --> p.toml:1:1
                  |
                1 | 
                  | ^
                  = help: add `about`: What the pipeline is for, in one sentence.

                error[GW-L112]: the pipeline has no `start`
                 --> p.toml:1:1
                  |
                1 | 
                  | ^
                  = help: add `start`: The stage in which a run starts.

                error[GW-L112]: the pipeline has no `stages`
                 --> p.toml:1:1
                  |
                1 | 
                  | ^
                  = help: add `stages`: The stages of a run.
            "#]],
        ),
        whole(
            "p.toml",
            "\u{feff}nme = 'é'\r\n\tnmae = 'é'\r\n",
            expect![[r#"
                error[GW-L112]: the pipeline has no `about`
                 --> p.toml:1:1
                  |
                1 | nme = 'é'
                  | ^
                  = help: add `about`: What the pipeline is for, in one sentence.

                error[GW-L112]: the pipeline has no `start`
                 --> p.toml:1:1
                  |
                1 | nme = 'é'
                  | ^
                  = help: add `start`: The stage in which a run starts.

                error[GW-L112]: the pipeline has no `stages`
                 --> p.toml:1:1
                  |
                1 | nme = 'é'
                  | ^
                  = help: add `stages`: The stages of a run.

                error[GW-L110]: the pipeline has no key `nme`
                 --> p.toml:1:1
                  |
                1 | nme = 'é'
                  | ^^^
                  = help: did you mean `name`?

                error[GW-L110]: the pipeline has no key `nmae`
                 --> p.toml:2:2
                  |
                2 |  nmae = 'é'
                  |  ^^^^
                  = help: did you mean `name`?
            "#]],
        ),
    ]
}
