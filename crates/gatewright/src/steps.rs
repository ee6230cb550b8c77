//! Steps that are given at the start, from a JSON file.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::Path;

use engine::{Format, Step};

use crate::failure::Failure;

const MOST_BYTES: u64 = 1024 * 1024;

/// The steps in a file: a list, or an object whose `steps` is one.
pub fn read(path: &Path) -> Result<Vec<Step>, Failure> {
    let size = fs::metadata(path).map_err(Failure::file("look at", path))?;
    if !size.is_file() || size.len() > MOST_BYTES {
        let message = format!(
            "{} is not a file of at most {MOST_BYTES} bytes",
            path.display()
        );
        return Err(Failure::no(message).hint("name a JSON file with fewer steps"));
    }
    let mut text = String::new();
    let file = File::open(path).map_err(Failure::file("open", path))?;
    file.take(MOST_BYTES)
        .read_to_string(&mut text)
        .map_err(Failure::file("read", path))?;
    parse(&text).map_err(|reason| Failure::no(format!("{}: {reason}", path.display())))
}

fn parse(text: &str) -> Result<Vec<Step>, String> {
    let object = match text.trim_start().starts_with('[') {
        true => format!("{{\"steps\": {text}}}"),
        false => text.to_owned(),
    };
    evidence::steps::read(&object, &Format::Json { schema: None }, "steps")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_and_an_object_say_the_same() {
        let step = r#"{"id": "a", "title": "begin", "agent": "worker", "needs": []}"#;
        let listed = parse(&format!(" [{step}]")).unwrap();
        assert_eq!(listed, parse(&format!("{{\"steps\": [{step}]}}")).unwrap());
        assert_eq!(listed.first().unwrap().id.as_str(), "a");
    }

    #[test]
    fn what_is_no_step_is_told() {
        for text in ["", "[]", "{}", "[1]", r#"[{"id": "a"}]"#] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
