//! The task of a run, from the command line or from stdin.

use std::io::Read;

use runtime::failure::Failure;

const MOST_BYTES: usize = 1024 * 1024;

/// The task of `--task`; `-` means stdin.
pub(crate) fn read(typed: &str) -> Result<String, Failure> {
    let task = match typed {
        "-" => from(std::io::stdin().lock())?,
        typed => typed.to_owned(),
    };
    if task.len() > MOST_BYTES {
        let message = format!("the task is longer than {MOST_BYTES} bytes");
        return Err(
            Failure::refused(message).hint("put it into a file of the project and name that")
        );
    }
    if task.trim().is_empty() {
        Err(Failure::usage("the task is empty").hint("describe what to do"))
    } else {
        Ok(task)
    }
}

/// One byte more than allowed, so that we notice a longer text.
fn from(input: impl Read) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    let read = input.take(MOST_BYTES as u64 + 1).read_to_end(&mut bytes);
    read.map_err(|cause| {
        Failure::environment(format!("cannot read the task ({cause})")).hint("retry")
    })?;
    // A text that was cut inside a character is too long anyway.
    match String::from_utf8(bytes) {
        Ok(task) => Ok(task.trim_end().to_owned()),
        Err(problem) if problem.as_bytes().len() > MOST_BYTES => {
            Ok(String::from_utf8_lossy(problem.as_bytes()).into_owned())
        }
        Err(_) => Err(Failure::refused("the task is not UTF-8").hint("write it as text")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_says_something_and_is_not_too_long() {
        for (typed, expected) in [("write", true), ("", false), (" \n", false)] {
            assert_eq!(read(typed).is_ok(), expected, "{typed:?}");
        }
        assert!(read(&"x".repeat(MOST_BYTES)).is_ok());
        assert!(read(&"x".repeat(MOST_BYTES + 1)).is_err());
    }

    #[test]
    fn the_input_is_read_up_to_the_limit() {
        assert_eq!(from(&b"a task\n"[..]), Ok("a task".to_owned()));
        assert!(from(&b"\xff"[..]).is_err());
        let endless = from(std::io::repeat(b'x')).unwrap();
        assert_eq!(endless.len(), MOST_BYTES + 1);
    }
}
