//! A file with several tasks: one on each line, or longer ones with a line `---` between them.

/// The line between two tasks of several lines.
const SEPARATOR: &str = "---";

/// More than this in one file is a mistake.
pub const MOST_TASKS: usize = 5_000;

/// The longest task, in bytes.
pub const LONGEST_TASK: usize = 1024 * 1024;

/// A task, and the line of the file where it begins, counted from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileTask {
    pub line: usize,
    pub text: String,
}

/// What is wrong with a task file, and the line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskFileProblem {
    /// Absent where the file has no task at all.
    pub line: Option<usize>,
    pub what: String,
}

/// The tasks of a file, in their order; or its first fault, so that nothing of a bad file is used.
pub fn parse(bytes: &[u8]) -> Result<Vec<FileTask>, TaskFileProblem> {
    let text = std::str::from_utf8(bytes).map_err(|problem| TaskFileProblem {
        line: Some(1 + newlines(&bytes[..problem.valid_up_to()])),
        what: "this is not UTF-8".to_owned(),
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let lines: Vec<&str> = text.lines().collect();
    let tasks = if lines.iter().any(|line| is_separator(line)) {
        of_blocks(&lines)?
    } else {
        of_lines(&lines)
    };
    check(&tasks)?;
    Ok(tasks)
}

fn newlines(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| **byte == b'\n').count()
}

fn is_separator(line: &str) -> bool {
    line.trim_end() == SEPARATOR
}

/// One task a line. Empty lines are for the reader.
fn of_lines(lines: &[&str]) -> Vec<FileTask> {
    let numbered = lines.iter().zip(1..);
    let tasks = numbered.filter(|(line, _)| !line.trim().is_empty());
    let task = |(line, number): (&&str, usize)| FileTask {
        line: number,
        text: line.trim().to_owned(),
    };
    tasks.map(task).collect()
}

/// What stands between two separators is a task. Before the first and after the last there may be none.
fn of_blocks(lines: &[&str]) -> Result<Vec<FileTask>, TaskFileProblem> {
    let mut tasks = Vec::new();
    let mut begins = 1;
    let blocks: Vec<&[&str]> = lines.split(|line| is_separator(line)).collect();
    let last = blocks.len() - 1;
    for (number, block) in blocks.into_iter().enumerate() {
        let empty = block.iter().take_while(|line| line.trim().is_empty());
        let line = begins + empty.count();
        let text = block.join("\n").trim().to_owned();
        if !text.is_empty() {
            tasks.push(FileTask { line, text });
        } else if number != 0 && number != last {
            return Err(TaskFileProblem {
                line: Some(begins),
                what: "there is no task between two lines `---`".to_owned(),
            });
        }
        begins += block.len() + 1;
    }
    Ok(tasks)
}

fn check(tasks: &[FileTask]) -> Result<(), TaskFileProblem> {
    let long = tasks.iter().find(|task| task.text.len() > LONGEST_TASK);
    let fault = |line, what: String| Err(TaskFileProblem { line, what });
    match (tasks.get(MOST_TASKS), long) {
        _ if tasks.is_empty() => fault(None, "there is no task".to_owned()),
        (Some(task), _) => fault(
            Some(task.line),
            format!("a file may have at most {MOST_TASKS} tasks"),
        ),
        (None, Some(task)) => fault(
            Some(task.line),
            format!("the task is longer than {LONGEST_TASK} bytes"),
        ),
        (None, None) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tasks(text: &str) -> Vec<(usize, String)> {
        let tasks = parse(text.as_bytes()).unwrap().into_iter();
        tasks.map(|task| (task.line, task.text)).collect()
    }

    fn faulty_line(bytes: &[u8]) -> usize {
        parse(bytes).unwrap_err().line.unwrap()
    }

    #[test]
    fn without_a_separator_each_line_is_a_task() {
        let expected = [(1, "one".to_owned()), (4, "two - three".to_owned())];
        assert_eq!(tasks("one\n\n \n  two - three  \n"), expected);
        assert_eq!(tasks("\u{feff}one\r\n"), [(1, "one".to_owned())]);
    }

    #[test]
    fn with_separators_a_task_may_have_several_lines() {
        let text = "---\none\n\nmore\n---  \n\ntwo\n---\n";
        let expected = [(2, "one\n\nmore".to_owned()), (7, "two".to_owned())];
        assert_eq!(tasks(text), expected);
        assert_eq!(tasks("# a\n----\nb\n---\nc").len(), 2, "longer rules stay");
    }

    #[test]
    fn a_fault_names_its_line() {
        assert_eq!(parse(b"").unwrap_err().line, None);
        assert_eq!(parse(b"\n \n").unwrap_err().line, None);
        assert_eq!(faulty_line(b"one\n---\n \n---\ntwo"), 3);
        assert_eq!(faulty_line(b"one\ntwo\n\xff\n"), 3);
        let long = format!("one\n{}\n", "x".repeat(LONGEST_TASK + 1));
        assert_eq!(faulty_line(long.as_bytes()), 2);
        let many = "x\n".repeat(MOST_TASKS + 1);
        assert_eq!(faulty_line(many.as_bytes()), MOST_TASKS + 1);
        assert_eq!(tasks(&"x\n".repeat(MOST_TASKS)).len(), MOST_TASKS);
    }
}
