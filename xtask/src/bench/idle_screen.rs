//! What a screen costs on which nothing happens: `watch` in a pseudo terminal, its processor time beside the clock's.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::history;
use crate::battery::{self, Stand};
use crate::failure::Failure;

/// How much history the run on the screen has.
const ENTRIES: usize = 10_000;

/// The first pictures are drawn by then.
const BEFORE: Duration = Duration::from_secs(3);

/// Long enough for several looks at the store and at the processes.
const WATCHED: Duration = Duration::from_secs(30);

/// Starts `watch` at a terminal of its own; the program is its first argument, the file for its id the second.
const AT_TERMINAL: &str = r#"
export WATCHED_PROGRAM="$0" WATCHED_ID="$1"
exec script -qfc 'echo $$ > "$WATCHED_ID.new"; mv "$WATCHED_ID.new" "$WATCHED_ID"; exec "$WATCHED_PROGRAM" watch' /dev/null
"#;

/// How much of a core an idle `watch` takes, in percent.
pub(super) fn share(program: &Path) -> Result<f64, Failure> {
    let stand = battery::started(program)?;
    history::grow(&stand, battery::RUN, ENTRIES)?;
    let file = stand.state_home().join("watched.pid");
    let mut screen = start(&stand, &file)?;
    let measured = measure(&file);
    if let Some(mut keys) = screen.stdin.take() {
        let _ = keys.write_all(b"q");
    }
    let ended = screen.wait().map_err(Failure::program("script"))?;
    match measured {
        Ok(share) if ended.success() => Ok(share),
        Ok(_) => Err(Failure::no("`watch` did not end by itself after q")),
        Err(failure) => Err(failure),
    }
}

fn start(stand: &Stand, file: &Path) -> Result<Child, Failure> {
    let name = file.to_string_lossy();
    let mut command = stand.under(&["sh", "-c", AT_TERMINAL], &[name.as_ref()]);
    command.stdin(Stdio::piped()).stdout(Stdio::null());
    command.env("TERM", "xterm-256color");
    command.spawn().map_err(Failure::program("sh"))
}

fn measure(file: &Path) -> Result<f64, Failure> {
    let end = Instant::now() + Duration::from_secs(60);
    while !file.exists() {
        if Instant::now() > end {
            return Err(Failure::no(
                "`watch` did not start: is `script` (bsdutils) installed?",
            ));
        }
        thread::sleep(Duration::from_millis(20));
    }
    let id = fs::read_to_string(file).map_err(Failure::file("read", file))?;
    thread::sleep(BEFORE);
    let (from, began) = (on_processor(id.trim())?, Instant::now());
    thread::sleep(WATCHED);
    let used = on_processor(id.trim())?.saturating_sub(from);
    Ok(used.as_secs_f64() / began.elapsed().as_secs_f64() * 100.0)
}

/// How long this process was on a processor.
fn on_processor(id: &str) -> Result<Duration, Failure> {
    let path = format!("/proc/{id}/schedstat");
    let path = Path::new(&path);
    let text = fs::read_to_string(path).map_err(Failure::file("read", path))?;
    let nanoseconds = text.split_whitespace().next();
    let nanoseconds = nanoseconds.and_then(|number| number.parse().ok());
    let unreadable = || Failure::no(format!("{} has no time in it", path.display()));
    Ok(Duration::from_nanos(nanoseconds.ok_or_else(unreadable)?))
}
