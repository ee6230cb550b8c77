//! The system calls of one run of the program, as strace tells them.

/// One place at which a process can be stopped: before the n-th call of this name.
///
/// strace counts the calls of each name apart, so a place in a trace is a name and a number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Point {
    pub call: String,
    pub number: usize,
    /// It makes something durable, makes a new file, or takes something away for good.
    settles: bool,
    /// It asks the system for something that a disk or a full table can deny.
    asks: bool,
}

impl Point {
    /// The option that makes strace kill the process there. The signal arrives on entering the
    /// call, which is then not carried out.
    pub(crate) fn injection(&self) -> String {
        format!("inject={}:signal=KILL:when={}", self.call, self.number)
    }

    /// Can the call fail for a reason outside of the program?
    pub(super) fn can_fail(&self) -> bool {
        self.asks
    }
}

/// Does the call on this line ask for something that can be denied? Not memory, time, signals and the
/// process itself; and not `close`, which lets go of the file even when it fails.
fn asks(call: &str, line: &str) -> bool {
    const OWN: [&str; 38] = [
        "arch_prctl",
        "brk",
        "clock_gettime",
        "clock_nanosleep",
        "clone",
        "clone3",
        "close",
        "close_range",
        "execve",
        "exit",
        "exit_group",
        "futex",
        "getegid",
        "geteuid",
        "getgid",
        "getpid",
        "getppid",
        "getrandom",
        "gettid",
        "getuid",
        "madvise",
        "mprotect",
        "mremap",
        "munmap",
        "nanosleep",
        "poll",
        "ppoll",
        "prctl",
        "prlimit64",
        "rseq",
        "rt_sigaction",
        "rt_sigprocmask",
        "rt_sigreturn",
        "sched_getaffinity",
        "sched_yield",
        "set_robust_list",
        "set_tid_address",
        "sigaltstack",
    ];
    let memory = call == "mmap" && line.contains("MAP_ANONYMOUS");
    !memory && !OWN.contains(&call)
}

/// Does the call on this line settle something? A file that was made and not yet filled is such a
/// place too: the call that fills it comes right after.
fn settles(call: &str, line: &str) -> bool {
    const SETTLING: [&str; 11] = [
        "fsync",
        "fdatasync",
        "rename",
        "renameat",
        "renameat2",
        "link",
        "linkat",
        "unlink",
        "unlinkat",
        "ftruncate",
        "mkdirat",
    ];
    SETTLING.contains(&call) || line.contains("O_CREAT")
}

/// All points of a trace, in the order of the calls. The first call is the one that makes the
/// program of the process: before it, there is nothing to kill.
pub(crate) fn points(trace: &str) -> Vec<Point> {
    let mut points: Vec<Point> = Vec::new();
    let calls = trace.lines().filter_map(|line| Some((call(line)?, line)));
    for (call, line) in calls.skip(1) {
        let number = points.iter().filter(|point| point.call == call).count() + 1;
        let settles = settles(call, line);
        points.push(Point {
            call: call.to_owned(),
            number,
            settles,
            asks: asks(call, line),
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

/// About so many points, spread evenly; and all those right before and after what settles. The seed says which
/// comes first, so that another time takes others.
pub(super) fn sample(points: &[Point], about: usize, seed: u64) -> Vec<Point> {
    let every = points.len().div_ceil(about.max(1)).max(1);
    let first = usize::try_from(seed % every as u64).unwrap_or(0);
    let near = |at: usize| {
        let settles = |at: usize| points.get(at).is_some_and(|point| point.settles);
        settles(at) || at.checked_sub(1).is_some_and(settles)
    };
    let chosen = points
        .iter()
        .enumerate()
        .filter(|(at, _)| at % every == first || near(*at));
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
            names(&sample(&points, 1, 0)),
            ["brk 1", "fdatasync 1", "close 1"]
        );
        assert_eq!(
            names(&sample(&points, 3, 0)),
            ["brk 1", "write 2", "fdatasync 1", "close 1"]
        );
        assert_eq!(sample(&points, 100, 7), points);
        assert_eq!(sample(&[], 3, 1), []);
    }

    #[test]
    fn what_a_disk_cannot_deny_does_not_fail() {
        let trace = "execve()\nbrk()\nmmap(NULL, 8, PROT_READ, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0)\n\
                     mmap(NULL, 8, PROT_READ, MAP_SHARED, 3, 0)\nread(3)\nclose(3)\n";
        let asking = points(trace).into_iter().filter(Point::can_fail);
        assert_eq!(names(&asking.collect::<Vec<_>>()), ["mmap 2", "read 1"]);
    }

    #[test]
    fn the_injection_names_the_call_and_its_number() {
        let point = Point {
            call: "write".into(),
            number: 2,
            settles: false,
            asks: true,
        };
        assert_eq!(point.injection(), "inject=write:signal=KILL:when=2");
    }

    #[test]
    fn a_sample_holds_the_call_that_fills_a_new_file() {
        let trace = "execve()\nbrk()\nread()\nopenat(8, \"a\", O_RDWR|O_CREAT, 0600) = 9\n\
                     pwrite64(9, \"b\", 1, 0) = 1\nclose(9) = 0\n";
        assert_eq!(
            names(&sample(&points(trace), 1, 0)),
            ["brk 1", "openat 1", "pwrite64 1"]
        );
    }
}
