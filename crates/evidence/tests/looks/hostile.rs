//! Hostile documents: bombs, depth and length end in a refusal, and never in a crash.

use engine::{Format, Seen};

use crate::world::World;

/// Every one of these must be refused. That the test ends shows that it is refused soon.
fn refused(format: &Format, documents: &[(&str, String)]) {
    for (name, document) in documents {
        let mut world = World::new();
        world.declare("left", "left", format.clone());
        world.write("left", document);
        let seen = world.see("left").unwrap();
        assert!(matches!(seen, Seen::Invalid { .. }), "{name}: {seen:?}");
    }
}

fn bundle(yaml: &str) -> String {
    format!("---\n{yaml}\n---\ntext\n")
}

#[test]
fn hostile_yaml_is_refused() {
    let laughs: String = (1..10)
        .map(|n| {
            let before = n - 1;
            format!(
                "l{n}: &l{n} [{}]\n",
                vec![format!("*l{before}"); 10].join(", ")
            )
        })
        .collect();
    let indented: String = (0..300)
        .map(|depth| format!("{}k:\n", " ".repeat(depth)))
        .collect();
    refused(
        &Format::Bundle,
        &[
            ("laughs", bundle(&format!("l0: &l0 [ha, ha]\n{laughs}"))),
            (
                "quadratic",
                bundle(&format!(
                    "a: &a {}\nb: [{}]",
                    "x".repeat(20_000),
                    "*a,".repeat(9_000)
                )),
            ),
            ("200 kB of [", bundle(&"[".repeat(200_000))),
            ("60 kB of [", bundle(&"[".repeat(60_000))),
            ("60 kB of {", bundle(&"{".repeat(60_000))),
            ("60 kB of {a:", bundle(&"{a: ".repeat(15_000))),
            ("30 kB of -", bundle(&"- ".repeat(15_000))),
            ("deep by indent", bundle(&indented)),
            (
                "deep but closed",
                bundle(&format!("a: {}{}", "[".repeat(100), "]".repeat(100))),
            ),
            (
                "many nodes",
                bundle(&format!("a: [{}]", "1,".repeat(30_000))),
            ),
            ("long", bundle(&format!("a: {}", "x".repeat(70_000)))),
            ("two documents", bundle("a: 1\n--- {b: 2}")),
            ("an alias to itself", bundle("a: &a [*a]")),
            ("a key that is a list", bundle("? [a, b]\n: 1")),
            ("not a number", bundle("a: .nan")),
            ("control characters", bundle("a: \u{1}\u{0}")),
        ],
    );
}

#[test]
fn hostile_json_is_refused() {
    refused(
        &Format::Json { schema: None },
        &[
            ("200 kB of [", "[".repeat(200_000)),
            ("200 kB of {", "{\"a\":".repeat(40_000)),
            (
                "deep but closed",
                format!("{}{}", "[".repeat(100_000), "]".repeat(100_000)),
            ),
            ("a huge number", String::from("1e999999999")),
            ("half a surrogate", String::from(r#""\ud800""#)),
            ("an open string", format!("\"{}", "a".repeat(200_000))),
            ("NaN", String::from("NaN")),
        ],
    );
}

#[test]
fn a_reason_is_short_and_printable_whatever_was_written() {
    let mut world = World::new();
    world.declare("left", "left", Format::Json { schema: None });
    let long_key = format!("\u{1b}]52;c;evil\u{7}{}", "k".repeat(50_000));
    world.write("left", with_key_twice(&long_key));
    let Seen::Invalid { reason, .. } = world.see("left").unwrap() else {
        panic!("it was valid")
    };
    assert!(
        reason.contains("appears twice") || reason.contains("not valid JSON"),
        "{reason}"
    );
    assert!(
        reason.len() < 1_000 && !reason.contains(char::is_control),
        "{}",
        reason.len()
    );
}

/// An object with the same escaped key twice.
fn with_key_twice(key: &str) -> String {
    let escaped: String = key
        .chars()
        .map(|c| {
            if c.is_control() {
                format!("\\u{:04x}", u32::from(c))
            } else {
                c.to_string()
            }
        })
        .collect();
    format!(r#"{{"{escaped}": 1, "{escaped}": 2}}"#)
}
