//! Where links lead that come along into a worktree. Pure: nothing is followed.

use std::path::{Component, Path, PathBuf};

/// The absolute target of a relative link, if it is outside of this folder. Nothing for a link that leads to the same
/// place from a copy of the folder.
pub(super) fn relative_target_outside(
    folder: &Path,
    link: &Path,
    target: &Path,
) -> Option<PathBuf> {
    if target.is_absolute() {
        return None;
    }
    let absolute = plain(&link.parent()?.join(target));
    (!absolute.starts_with(folder)).then_some(absolute)
}

/// Without `.` and `..`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => plain.push(part),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_relative_link_out_of_the_folder_leads_elsewhere_from_a_copy() {
        for (link, target, expected) in [
            ("/p/.env", "../shared.env", Some("/shared.env")),
            ("/p/a/b", "../../../x/./y", Some("/x/y")),
            ("/p/a/b", "../c", None),
            ("/p/a/b", "./c", None),
            ("/p/a/b", "../../p/c", None),
            ("/p/a/b", "../../pq", Some("/pq")),
            ("/p/python", "/usr/bin/python3", None),
        ] {
            let found = relative_target_outside("/p".as_ref(), link.as_ref(), target.as_ref());
            assert_eq!(
                found.as_deref(),
                expected.map(Path::new),
                "{link} -> {target}"
            );
        }
    }
}
