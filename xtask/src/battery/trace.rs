//! The system calls of one run of the program, as strace tells them.

/// One place at which a process can be stopped: before the n-th call of this name.
///
/// strace counts the calls of each name apart, so a place in a trace is a name and a number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Point {
    pub call: String,
    pub number: usize,
}

impl Point {
    /// The option that makes strace kill the process there. The signal arrives on entering the
    /// call, which is then not carried out.
    pub fn injection(&self) -> String {
        format!("inject={}:signal=KILL:when={}", self.call, self.number)
    }

    /// Does this call make something durable, or take it away for good?
    fn settles(&self) -> bool {
        const SETTLING: [&str; 9] = [
            "fsync",
            "fdatasync",
            "rename",
            "renameat",
            "renameat2",
            "link",
            "linkat",
            "unlink",
            "ftruncate",
        ];
        SETTLING.contains(&self.call.as_str())
    }
}

/// All points of a trace, in the order of the calls. The first call is the one that makes the
/// program of the process: before it, there is nothing to kill.
pub fn points(trace: &str) -> Vec<Point> {
    let mut points: Vec<Point> = Vec::new();
    for call in trace.lines().filter_map(call).skip(1) {
        let number = points.iter().filter(|point| point.call == call).count() + 1;
        points.push(Point {
            call: call.to_owned(),
            number,
        });
    }
    points
}

/// The name of the call on this line; lines about signals and the end have none.
fn call(line: &str) -> Option<&str> {
    let (name, _) = line.split_once('(')?;
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    is_name.then_some(name)
}

/// About so many points, spread evenly; and all those right before and after what settles.
pub fn sample(points: &[Point], about: usize) -> Vec<Point> {
    let every = points.len().div_ceil(about.max(1)).max(1);
    let near = |at: usize| {
        let settles = |at: usize| points.get(at).is_some_and(Point::settles);
        settles(at) || at.checked_sub(1).is_some_and(settles)
    };
    let chosen = points
        .iter()
        .enumerate()
        .filter(|(at, _)| at % every == 0 || near(*at));
    chosen.map(|(_, point)| point.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRACE: &str = "\
execve(\"/bin/a\", [\"a\"], 0x7ffd /* 3 vars */) = 0
brk(NULL)                               = 0x5
write(3, \"brk(\", 4)                   = 4
--- SIGCHLD {si_signo=SIGCHLD} ---
write(3, \"x\", 1)                      = 1
fdatasync(3)                            = 0
close(3)                                = 0
exit_group(0)                           = ?
+++ exited with 0 +++
";

    fn names(points: &[Point]) -> Vec<String> {
        points
            .iter()
            .map(|point| format!("{} {}", point.call, point.number))
            .collect()
    }

    #[test]
    fn each_call_is_a_point_with_its_own_number() {
        let all = [
            "brk 1",
            "write 1",
            "write 2",
            "fdatasync 1",
            "close 1",
            "exit_group 1",
        ];
        assert_eq!(names(&points(TRACE)), all);
    }

    #[test]
    fn a_sample_is_spread_and_holds_what_surrounds_a_sync() {
        let points = points(TRACE);
        assert_eq!(
            names(&sample(&points, 1)),
            ["brk 1", "fdatasync 1", "close 1"]
        );
        assert_eq!(
            names(&sample(&points, 3)),
            ["brk 1", "write 2", "fdatasync 1", "close 1"]
        );
        assert_eq!(sample(&points, 100), points);
        assert_eq!(sample(&[], 3), []);
    }

    #[test]
    fn the_injection_names_the_call_and_its_number() {
        let point = Point {
            call: "write".into(),
            number: 2,
        };
        assert_eq!(point.injection(), "inject=write:signal=KILL:when=2");
    }
}
