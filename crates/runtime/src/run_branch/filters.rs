//! Which files have a filter of git that is set up on this machine. Pure: the answers of git are given.

use std::collections::BTreeSet;

/// The filters of `git config --null --name-only --list` that have a program.
pub(super) fn configured(settings: &[u8]) -> BTreeSet<String> {
    let names = settings.split(|byte| *byte == 0);
    let names = names.filter_map(|name| std::str::from_utf8(name).ok()?.strip_prefix("filter."));
    let programs = names.filter_map(|name| {
        let (filter, key) = name.rsplit_once('.')?;
        matches!(key, "clean" | "process").then(|| filter.to_owned())
    });
    programs.collect()
}

/// The paths of `git check-attr -z filter` that have one of these filters.
pub(super) fn filtered(answer: &[u8], filters: &BTreeSet<String>) -> Vec<String> {
    let fields: Vec<&[u8]> = answer.split(|byte| *byte == 0).collect();
    let files = fields.chunks_exact(3).filter(|file| {
        let value = String::from_utf8_lossy(file[2]);
        filters.contains(value.as_ref())
    });
    files
        .map(|file| String::from_utf8_lossy(file[0]).into_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_filter_that_is_set_up_counts() {
        let settings = b"user.name\0filter.lfs.process\0filter.a.b.clean\0filter.out.smudge\0";
        let names = configured(settings);
        assert_eq!(Vec::from_iter(names.clone()), ["a.b", "lfs"]);
        let answer =
            b"x.bin\0filter\0lfs\0y\0filter\0unspecified\0z\0filter\0out\0k\0filter\0a.b\0";
        assert_eq!(filtered(answer, &names), ["x.bin", "k"]);
    }
}
