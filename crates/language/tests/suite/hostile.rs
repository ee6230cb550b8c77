//! Hostile files: an error, never a crash. The generator's seed is fixed, so a failure repeats.

use language::{Colour, MOST_BYTES, builtin, references};

use crate::compiled;

/// Everything that a caller does with a file, on a stack as small as any thread's.
fn survives(name: &str, bytes: &[u8]) -> bool {
    let main = language::SourceFile {
        name: name.into(),
        bytes: bytes.into(),
    };
    let _ = references(&main);
    match compiled(name, bytes, &[]) {
        Ok(_) => true,
        Err(problems) => {
            assert!(!problems.is_empty());
            assert!(problems.len() <= 101, "{} problems", problems.len());
            let text = String::from_utf8_lossy(bytes);
            for problem in &problems {
                let shown = problem.render(&text, Colour::Plain);
                assert!(
                    !shown
                        .chars()
                        .any(|found| found.is_control() && found != '\n'),
                    "{shown:?}"
                );
            }
            false
        }
    }
}

#[test]
fn hostile_files_are_refused() {
    let most = MOST_BYTES;
    let repeated = |part: &str| part.repeat(200_000 / part.len()).into_bytes();
    let stages: String = (0..10_000)
        .map(|n| format!("[stages.s{n}]\nagent = 'x'\n"))
        .collect();
    let schemas: String = (0..400)
        .map(|n| {
            format!("[artifacts.a{n}]\nfrom='reply'\nschema={{pattern='(x{{1,99}}){{1,{n}}}'}}\n")
        })
        .collect();
    for (what, bytes) in [
        ("nothing", Vec::new()),
        ("a byte order mark alone", b"\xef\xbb\xbf".to_vec()),
        ("no UTF-8", vec![0xff; 1000]),
        ("zeros", vec![0; most]),
        ("50 MB", vec![b'a'; 50_000_000]),
        ("open brackets", repeated("[")),
        ("open braces", repeated("{")),
        ("open brackets on lines", repeated("[\n")),
        ("closed brackets on lines", repeated("]\n")),
        ("a JSON list in a list", repeated("{\"a\":[")),
        ("dotted keys", repeated("a.")),
        (
            "many keys",
            (0..20_000)
                .flat_map(|n| format!("k{n}=1\n").into_bytes())
                .collect(),
        ),
        ("many wrong values", repeated("[[prove]]\nname=1\n")),
        ("many syntax errors", repeated("= = =\n")),
        ("one key again and again", repeated("a = 1\n")),
        ("one header again and again", repeated("[a]\n")),
        ("open strings", repeated("\"")),
        ("open literal strings", repeated("'''")),
        ("escapes", repeated("\\u")),
        ("one long line", repeated("name = 1 ")),
        (
            "one long key",
            [vec![b'k'; most - 10], b" = 1".to_vec()].concat(),
        ),
        (
            "10,000 stages",
            format!("name='a'\nabout='b'\nstart='s0'\n{stages}").into_bytes(),
        ),
        ("many schemas", schemas.into_bytes()),
        ("carriage returns", repeated("\r")),
        (
            "terminal escapes",
            b"\x1b[2J = 1\n\"\\u001b[31m\" = \"\\u001b]0;x\\u0007\"".to_vec(),
        ),
        ("reordered text", "\"\u{202e}eman\" = 1".as_bytes().to_vec()),
    ] {
        assert!(
            !survives("hostile.toml", &bytes),
            "{what} is accepted as TOML"
        );
        assert!(
            !survives("hostile.json", &bytes),
            "{what} is accepted as JSON"
        );
    }
}

#[test]
fn line_ends_and_byte_order_marks_of_other_systems_are_accepted() {
    for builtin in builtin::all()
        .iter()
        .filter(|builtin| builtin.files.is_empty())
    {
        let windows = builtin.text.replace('\n', "\r\n");
        assert!(
            survives("windows.toml", windows.as_bytes()),
            "{}",
            builtin.name
        );
        let marked = format!("\u{feff}{windows}");
        assert!(
            survives("marked.toml", marked.as_bytes()),
            "{}",
            builtin.name
        );
    }
}

/// Xorshift: small, and the same on every machine.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }
}

#[test]
fn random_bytes_do_not_panic() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for _ in 0..3_000 {
        let length = random.below(200);
        let bytes: Vec<u8> = (0..length).map(|_| (random.next() >> 32) as u8).collect();
        let printable: Vec<u8> = bytes.iter().map(|byte| b' ' + byte % 95).collect();
        for bytes in [bytes, printable] {
            survives("random.toml", &bytes);
            survives("random.json", &bytes);
        }
    }
}

const PIECES: [&str; 24] = [
    "[",
    "]",
    "{",
    "}",
    "\"",
    "'",
    "=",
    ".",
    ",",
    "\n",
    "#",
    "\\",
    "null",
    "true",
    "-1",
    "1e999",
    "0x1",
    "1979-05-27",
    "@interrupted",
    "{mode}",
    "[[prove]]",
    "é",
    "\u{feff}",
    "\0",
];

#[test]
fn mutated_built_ins_do_not_panic() {
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    for builtin in builtin::all() {
        for _ in 0..400 {
            let mut bytes = builtin.text.as_bytes().to_vec();
            for _ in 0..=random.below(4) {
                mutate(&mut bytes, &mut random);
            }
            survives("mutated.toml", &bytes);
        }
    }
}

fn mutate(bytes: &mut Vec<u8>, random: &mut Random) {
    let at = random.below(bytes.len());
    match random.below(5) {
        0 => bytes.truncate(at),
        1 => drop(bytes.drain(at..(at + random.below(40)).min(bytes.len()))),
        2 => drop(bytes.splice(at..at, PIECES[random.below(PIECES.len())].bytes())),
        3 => {
            let end = (at + random.below(200)).min(bytes.len());
            let copy = bytes[at..end].to_vec();
            let to = random.below(bytes.len());
            drop(bytes.splice(to..to, copy));
        }
        _ => {
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= 1 << random.below(8);
            }
        }
    }
}
