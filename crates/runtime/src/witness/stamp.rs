//! The stamp of a file: as long as it is the same, nobody has touched the file.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;

/// Its size, times and number. Each look makes one for every file, so it is put together by hand.
pub(super) fn stamp(found: &Metadata) -> String {
    let mut stamp = Vec::with_capacity(LONGEST_STAMP);
    push_number(&mut stamp, found.len());
    for (before, number) in [
        (b'-', found.mtime()),
        (b'.', found.mtime_nsec()),
        (b'-', found.ctime()),
    ] {
        stamp.push(before);
        if number < 0 {
            stamp.push(b'-');
        }
        push_number(&mut stamp, number.unsigned_abs());
    }
    stamp.push(b'.');
    push_number(&mut stamp, found.ino());
    // Digits and signs are text.
    String::from_utf8(stamp).unwrap_or_default()
}

/// Five numbers, two signs and what is between them.
const LONGEST_STAMP: usize = 5 * LONGEST_NUMBER + 2 + 4;
const LONGEST_NUMBER: usize = 20;

fn push_number(text: &mut Vec<u8>, mut number: u64) {
    let mut digits = [b'0'; LONGEST_NUMBER];
    let mut length = 0;
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + (number % 10) as u8;
        number /= 10;
        length += 1;
        if number == 0 {
            break;
        }
    }
    text.extend_from_slice(&digits[LONGEST_NUMBER - length..]);
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_stamp_is_size_times_and_number() {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), "12345678901").unwrap();
        for (seconds, nanoseconds) in [(0, 0), (1_600_000_000, 7), (-3, 120)] {
            let at = rustix::fs::Timespec {
                tv_sec: seconds,
                tv_nsec: nanoseconds,
            };
            let times = rustix::fs::Timestamps {
                last_access: at,
                last_modification: at,
            };
            rustix::fs::futimens(file.as_file(), &times).unwrap();
            let found = fs::metadata(file.path()).unwrap();
            let (changed, number) = (found.ctime(), found.ino());
            let expected = format!("11-{seconds}.{nanoseconds}-{changed}.{number}");
            assert_eq!(stamp(&found), expected);
        }
    }
}
