//! A leash: a process of ours that ends a worker when we are killed and cannot do it ourselves.

use std::io::{self, Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};

/// What the holder is told when the worker has ended and was reaped: its number may be another's.
const LET_GO: &[u8] = b".";

/// Somebody waits for our end, and ends this group then.
pub struct Leash {
    holder: Child,
}

impl Leash {
    pub fn on(group: u32) -> io::Result<Self> {
        let holder = Command::new(std::env::current_exe()?)
            .arg("leash")
            .arg(group.to_string())
            .current_dir("/")
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // What is sent to our group must not reach it.
            .process_group(0)
            .spawn()?;
        Ok(Self { holder })
    }
}

impl Drop for Leash {
    fn drop(&mut self) {
        let told = match self.holder.stdin.take() {
            Some(mut line) => line.write_all(LET_GO),
            None => Ok(()),
        };
        if told.is_err() {
            let _ = self.holder.kill();
        }
        let _ = self.holder.wait();
    }
}

/// The other end: waits until the line is cut, and ends the group unless it was let go.
pub fn hold(group: u32, line: &mut dyn io::Read) {
    let mut told = Vec::new();
    let _ = line.take(LET_GO.len() as u64).read_to_end(&mut told);
    if told != LET_GO {
        evidence::group::kill(group);
    }
}

#[cfg(test)]
mod tests {
    use evidence::group::Group;

    use super::*;

    #[test]
    fn a_cut_line_ends_the_group_and_a_word_saves_it() {
        for (line, ended) in [(&b"."[..], false), (b"", true)] {
            let group = Group::start(Command::new("sleep").arg("60")).unwrap();
            hold(group.id(), &mut &*line);
            // Whoever was killed has ended by now or soon; whoever was not has not.
            let status = match ended {
                true => {
                    while !group.has_ended().unwrap() {
                        std::thread::yield_now();
                    }
                    true
                }
                false => group.has_ended().unwrap(),
            };
            assert_eq!(status, ended);
        }
    }
}
