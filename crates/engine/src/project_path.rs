//! Paths that stay inside the project, as a definition or a person writes them.

use alloc::string::String;
use alloc::vec::Vec;

/// Does this path lead out of the project, or into `.git`?
pub(crate) fn leads_out(path: &str) -> bool {
    let starts_elsewhere = path.starts_with(['/', '\\', '~']);
    let mut parts = path.split('/');
    let turns = parts.any(|part| part == ".." || part.eq_ignore_ascii_case(".git"));
    starts_elsewhere || turns || path.contains('\0')
}

/// The path without `.` and doubled slashes, if it names something inside the project.
pub(crate) fn plain(path: &str) -> Option<String> {
    let parts = path.trim().split('/');
    let parts: Vec<&str> = parts
        .filter(|part| !part.is_empty() && *part != ".")
        .collect();
    let names_something = !parts.is_empty() && !leads_out(path.trim());
    names_something.then(|| parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_made_plain_or_refused() {
        for (path, expected) in [
            ("site.yml", Some("site.yml")),
            ("./site.yml", Some("site.yml")),
            ("roles/web/", Some("roles/web")),
            ("roles//web/./tasks", Some("roles/web/tasks")),
            (" site.yml ", Some("site.yml")),
            ("a..b/c", Some("a..b/c")),
            ("..", None),
            ("../site.yml", None),
            ("roles/../../x", None),
            ("/etc/passwd", None),
            ("~/site.yml", None),
            ("\\\\host\\share", None),
            (".git/config", None),
            ("a/.GIT/config", None),
            ("a\0b", None),
            (".", None),
            ("./", None),
            ("", None),
        ] {
            assert_eq!(plain(path).as_deref(), expected, "{path:?}");
        }
    }
}
