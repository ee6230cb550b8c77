//! The kept output of a worker as a person reads it: of the stream of an agent program, its actions and its words.

use crate::worker_log::{LogHead, LogReader, LogStream, LogTail, WorkerLogLine};
use engine::Time;
use hosts::Program;
use hosts::agent_process::AgentOutput;

/// Reads the output of one worker, line by line.
pub struct WorkerOutput {
    program: Option<Program>,
    so_far: AgentOutput,
}

impl WorkerOutput {
    pub fn of(head: &LogHead) -> Self {
        Self {
            program: Program::parse(&head.runner),
            so_far: AgentOutput::default(),
        }
    }

    /// What this line says; as it was printed where nobody understands it.
    pub fn texts(&mut self, line: &WorkerLogLine, raw: bool) -> Vec<String> {
        let (Some(program), LogStream::Stdout, false) = (self.program, line.stream, raw) else {
            return vec![line.text.clone()];
        };
        if !line.text.starts_with('{') {
            return vec![line.text.clone()];
        }
        let so_far = &mut self.so_far;
        let (activity, reply) = (so_far.activity.clone(), so_far.reply.clone());
        program.read_line(line.text.as_bytes(), so_far);
        let acted = so_far.activity.clone();
        let acted = acted.filter(|it| activity.as_ref() != Some(it));
        let said = so_far.reply.clone();
        let said = said.filter(|it| reply.as_ref() != Some(it));
        let said = said.unwrap_or_default();
        let said = said.lines().map(str::to_owned);
        said.chain(acted.map(|it| format!("{TOOL} {it}"))).collect()
    }
}

/// What a worker did and said last, by the end of its log.
pub struct LatestOutput {
    pub at: Time,
    /// The last tool that it used, with its main argument.
    pub tool: Option<String>,
    /// The last line that it said or printed.
    pub words: Option<String>,
}

/// Nothing where it has printed nothing.
pub fn latest_of(tail: &LogTail) -> Option<LatestOutput> {
    let at = tail.lines.last()?.at;
    let mut output = WorkerOutput::of(&tail.head);
    let texts: Vec<String> = tail
        .lines
        .iter()
        .flat_map(|line| output.texts(line, false))
        .collect();
    let mut latest = texts.iter().rev();
    let words = latest.find(|text| !text.starts_with(TOOL) && !text.trim().is_empty());
    Some(LatestOutput {
        at,
        words: words.cloned(),
        tool: output.so_far.activity,
    })
}

/// Before the line of a tool.
const TOOL: char = '→';

/// The last lines of a log.
pub fn latest(reader: &mut LogReader, most: usize) -> Vec<String> {
    let mut output = WorkerOutput::of(&reader.head);
    let lines = reader.lines();
    let texts: Vec<String> = lines
        .iter()
        .flat_map(|line| output.texts(line, false))
        .collect();
    let first = texts.len().saturating_sub(most);
    texts.into_iter().skip(first).collect()
}
