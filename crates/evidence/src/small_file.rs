//! Small files of ours and of `/proc`, read with as few calls as possible: hooks read some at every tool
//! call.

use std::fs::File;
use std::io;
use std::path::Path;

use rustix::buffer::spare_capacity;
use rustix::io::Errno;

/// What is read at once. Nearly every such file is shorter.
const PIECE: usize = 4 * 1024;

/// What is read at once of files that are often longer. Much more would make the process ask the system for memory,
/// and give it back.
const LONG_PIECE: usize = 16 * 1024;

pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    read_from(&File::open(path)?)
}

/// The same for a file that is often longer.
pub fn read_long(path: &Path) -> io::Result<Vec<u8>> {
    read_long_from(&File::open(path)?)
}

/// The rest of an open file. A read that brings less than there was room for was the last one.
pub fn read_from(file: &File) -> io::Result<Vec<u8>> {
    read_into(Vec::with_capacity(PIECE), file)
}

/// The same of a file that is often longer.
pub fn read_long_from(file: &File) -> io::Result<Vec<u8>> {
    read_into(Vec::with_capacity(LONG_PIECE), file)
}

fn read_into(mut bytes: Vec<u8>, file: &File) -> io::Result<Vec<u8>> {
    loop {
        let room = bytes.capacity() - bytes.len();
        match rustix::io::read(file, spare_capacity(&mut bytes)) {
            Ok(length) if length < room => return Ok(bytes),
            Ok(_) => bytes.reserve(bytes.len()),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_any_length_are_read_to_their_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        for length in [0, 1, PIECE - 1, PIECE, PIECE + 1, 5 * PIECE] {
            let bytes: Vec<u8> = (0..length).map(|at| (at % 251) as u8).collect();
            std::fs::write(&path, &bytes).unwrap();
            assert_eq!(read(&path).unwrap(), bytes, "{length}");
        }
        assert!(read(&folder.path().join("absent")).is_err());
    }

    #[test]
    fn what_the_system_shows_of_a_process_is_read_to_its_end() {
        for name in ["stat", "environ", "cmdline"] {
            let path = Path::new("/proc/self").join(name);
            if let Ok(expected) = std::fs::read(&path) {
                assert_eq!(read(&path).unwrap().len(), expected.len(), "{name}");
            }
        }
    }
}
