//! Which files have a filter of git that is set up on this machine. Pure: the answers of git are given.

use std::collections::BTreeSet;

use evidence::git::{attributes, filter_settings};

/// The filters with these keys of settings that change what git stores.
pub(super) fn configured(keys: &[u8]) -> BTreeSet<&[u8]> {
    let settings = filter_settings(keys);
    let programs = settings.filter(|setting| matches!(setting.key, b"clean" | b"process"));
    programs.map(|setting| setting.filter).collect()
}

/// The paths of `git check-attr -z filter` that have one of these filters.
pub(super) fn filtered<'a>(answer: &'a [u8], filters: &BTreeSet<&[u8]>) -> Vec<&'a [u8]> {
    let files = attributes(answer).into_iter();
    let files = files.filter(|(_, filter)| filters.contains(filter));
    files.map(|(path, _)| path).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_filter_that_is_set_up_counts() {
        let settings = b"user.name\0filter.lfs.process\0filter.a.b.clean\0filter.out.smudge\0";
        let names = configured(settings);
        let expected: [&[u8]; 2] = [b"a.b", b"lfs"];
        assert_eq!(Vec::from_iter(names.clone()), expected);
        let answer =
            b"x.bin\0filter\0lfs\0y\0filter\0unspecified\0z\0filter\0out\0k\0filter\0a.b\0";
        let expected: [&[u8]; 2] = [b"x.bin", b"k"];
        assert_eq!(filtered(answer, &names), expected);
    }
}
