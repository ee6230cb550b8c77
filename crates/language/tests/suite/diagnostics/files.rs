//! Files that a definition refers to.

use expect_test::expect;

use super::{Case, case};

fn schema(schema: &str, expected: expect_test::Expect) -> Case {
    case(
        &format!("artifacts.a = {{ path = 'x', format = 'json', schema = {schema} }}"),
        expected,
    )
}

pub(super) fn cases() -> Vec<Case> {
    vec![
        schema(
            "'../x.json'",
            expect![[r#"
                error[GW-L130]: `../x.json` is not next to the definition
                 --> p.toml:1:55
                  |
                1 | artifacts.a = { path = 'x', format = 'json', schema = '../x.json' }
                  |                                                       ^^^^^^^^^^^
                  = help: put the file next to the definition or below it, and write its path with `/`
            "#]],
        ),
        schema(
            "'x.json'",
            expect![[r#"
                error[GW-L131]: there is no file `x.json`
                 --> p.toml:1:55
                  |
                1 | artifacts.a = { path = 'x', format = 'json', schema = 'x.json' }
                  |                                                       ^^^^^^^^
                  = help: create it, relative to the definition, or fix the path
            "#]],
        ),
        schema(
            "'no.json'",
            expect![[r#"
            error[GW-L132]: this schema cannot be used: EOF while parsing an object at line 1 column 1
             --> p.toml:1:55
              |
            1 | artifacts.a = { path = 'x', format = 'json', schema = 'no.json' }
              |                                                       ^^^^^^^^^
              = help: write a JSON Schema (draft 2020-12) that refers to no other file
        "#]],
        ),
        schema(
            "'latin.json'",
            expect![[r#"
            error[GW-L101]: `latin.json` is not UTF-8 text
             --> p.toml:1:55
              |
            1 | artifacts.a = { path = 'x', format = 'json', schema = 'latin.json' }
              |                                                       ^^^^^^^^^^^^
              = help: save it as UTF-8
        "#]],
        ),
        schema(
            "'strange.json'",
            expect![[r#"
            error[GW-L132]: this schema cannot be used: "strnig" is not valid under any of the schemas listed in the 'anyOf' keyword
             --> p.toml:1:55
              |
            1 | artifacts.a = { path = 'x', format = 'json', schema = 'strange.json' }
              |                                                       ^^^^^^^^^^^^^^
              = help: write a JSON Schema (draft 2020-12) that refers to no other file
        "#]],
        ),
        schema(
            "'outside.json'",
            expect![[r#"
            error[GW-L132]: this schema cannot be used: it refers to something outside
             --> p.toml:1:55
              |
            1 | artifacts.a = { path = 'x', format = 'json', schema = 'outside.json' }
              |                                                       ^^^^^^^^^^^^^^
              = help: write a JSON Schema (draft 2020-12) that refers to no other file
        "#]],
        ),
        schema(
            "'list.json'",
            expect![[r#"
            error[GW-L132]: this schema cannot be used: [] is not of types "boolean", "object"
             --> p.toml:1:55
              |
            1 | artifacts.a = { path = 'x', format = 'json', schema = 'list.json' }
              |                                                       ^^^^^^^^^^^
              = help: write a JSON Schema (draft 2020-12) that refers to no other file
        "#]],
        ),
        schema(
            "{ type = 'strnig' }",
            expect![[r#"
            error[GW-L132]: this schema cannot be used: "strnig" is not valid under any of the schemas listed in the 'anyOf' keyword
             --> p.toml:1:55
              |
            1 | artifacts.a = { path = 'x', format = 'json', schema = { type = 'strnig' } }
              |                                                       ^^^^^^^^^^^^^^^^^^^
              = help: write a JSON Schema (draft 2020-12) that refers to no other file
        "#]],
        ),
        schema(
            "7",
            expect![[r#"
            error[GW-L113]: expected a file or a schema, found a whole number
             --> p.toml:1:55
              |
            1 | artifacts.a = { path = 'x', format = 'json', schema = 7 }
              |                                                       ^
              = help: write "schemas/name.json"
        "#]],
        ),
        case(
            "stages.t = { agent = 'x', prompt = 'x.md' }",
            expect![[r#"
                error[GW-L131]: there is no file `x.md`
                 --> p.toml:1:36
                  |
                1 | stages.t = { agent = 'x', prompt = 'x.md' }
                  |                                    ^^^^^^
                  = help: create it, relative to the definition, or fix the path
            "#]],
        ),
    ]
}
