//! Links of every shape between a path of the project and what lies elsewhere: none is followed.

use engine::{Format, Seen};

use crate::world::World;

const SECRET: &str = "outside and secret";

/// Each shape is made in a project, and then the test looks at `a/b/left`.
fn check(expected: &Expected, shapes: &[(&str, &str)]) {
    for (name, shape) in shapes {
        let mut world = World::new();
        world.declare("left", "a/b/left", Format::Text);
        std::fs::create_dir_all(world.outside().join("elsewhere/b")).unwrap();
        std::fs::write(world.outside().join("elsewhere/left"), SECRET).unwrap();
        std::fs::write(world.outside().join("elsewhere/b/left"), SECRET).unwrap();
        world.act(shape);
        let seen = world.see("left").unwrap();
        let is_expected = match expected {
            Expected::Absent => seen == Seen::Absent,
            Expected::Valid => matches!(seen, Seen::Valid { .. }),
            Expected::Refused(part) => {
                matches!(&seen, Seen::Invalid { reason, .. } if reason.contains(part))
            }
        };
        assert!(is_expected, "{name}: {seen:?}");
        assert_ne!(
            seen.content(),
            Some(evidence::hash(SECRET.as_bytes())),
            "{name}"
        );
    }
}

enum Expected {
    Absent,
    Valid,
    Refused(&'static str),
}

#[test]
fn what_is_no_link_is_judged_for_itself() {
    check(
        &Expected::Absent,
        &[
            ("nothing at all", ""),
            ("a folder is missing", "write a/other x"),
            ("the file is missing", "write a/b/other x"),
        ],
    );
    check(&Expected::Valid, &[("a plain file", "write a/b/left x")]);
    check(
        &Expected::Refused("is a folder"),
        &[("a folder", "folder a/b/left")],
    );
    check(
        &Expected::Refused("is a pipe"),
        &[("a pipe that nobody writes to", "pipe a/b/left")],
    );
    check(
        &Expected::Refused("is not a folder"),
        &[
            ("a file for a folder", "write a/b x"),
            ("a file for the first folder", "write a x"),
            ("a pipe for a folder", "pipe a/b"),
        ],
    );
}

#[test]
fn a_socket_is_no_file() {
    let mut world = World::new();
    world.declare("left", "left", Format::Text);
    drop(std::os::unix::net::UnixListener::bind(world.root().join("left")).unwrap());
    let seen = world.see("left").unwrap();
    assert!(
        matches!(&seen, Seen::Invalid { reason, .. } if reason.contains("a socket")),
        "{seen:?}"
    );
}

#[test]
fn a_link_in_the_file_s_place_is_refused() {
    let chain: String = (0..60)
        .map(|n| format!("; link a/b/{n} {}", n + 1))
        .collect();
    check(
        &Expected::Refused("`left` in `a/b/left` is a symbolic link; remove the link"),
        &[
            (
                "to a file outside, absolute",
                "link a/b/left OUT/elsewhere/left",
            ),
            (
                "to a file outside, relative",
                "link a/b/left ../../../elsewhere/left",
            ),
            ("to a file inside", "write real x; link a/b/left ../../real"),
            (
                "to a file beside it",
                "write a/b/real x; link a/b/left real",
            ),
            ("dangling", "link a/b/left nowhere"),
            ("dangling, absolute", "link a/b/left /nowhere/at/all"),
            ("to itself", "link a/b/left left"),
            ("in a circle", "link a/b/left other; link a/b/other left"),
            (
                "a chain to outside",
                "link a/b/left one; link a/b/one two; link a/b/two OUT/elsewhere/left",
            ),
            ("a long chain", &format!("link a/b/left 0{chain}")),
            ("to a folder", "link a/b/left .."),
            ("to the root", "link a/b/left /"),
            ("to a device", "link a/b/left /dev/zero"),
            ("to standard input", "link a/b/left /dev/stdin"),
            ("to our own memory", "link a/b/left /proc/self/environ"),
            (
                "through a magic link",
                "link a/b/left /proc/self/cwd/Cargo.toml",
            ),
            ("to a pipe", "pipe pipe; link a/b/left ../../pipe"),
        ],
    );
}

#[test]
fn a_link_in_a_folder_s_place_is_refused() {
    check(
        &Expected::Refused("`a/b/left` is a symbolic link; remove the link"),
        &[
            ("last folder, to outside", "link a/b OUT/elsewhere"),
            ("last folder, relative", "link a/b ../../elsewhere"),
            ("first folder, to outside", "link a OUT/elsewhere"),
            ("first folder, relative", "link a ../elsewhere"),
            ("to a folder inside", "write real/left x; link a/b ../real"),
            ("first folder inside", "write real/b/left x; link a real"),
            ("dangling", "link a/b nowhere"),
            ("dangling first", "link a nowhere"),
            (
                "to the project itself",
                "write left x; link a/b ../../project",
            ),
            ("to its own parent", "link a/b ."),
            ("in a circle", "link a a"),
            ("through two links", "link a c; link c OUT/elsewhere"),
            (
                "both folder and file",
                "link a/b ../c; link c/left OUT/elsewhere/left",
            ),
            ("to a file", "write real x; link a/b ../real"),
        ],
    );
}

#[test]
fn a_link_above_the_project_is_the_person_s_own() {
    let mut world = World::new();
    world.declare("left", "left", Format::Text);
    world.write("left", "x");
    let link = world.outside().join("link");
    std::os::unix::fs::symlink(world.root(), &link).unwrap();
    let seen = world.see_from(&link, "left").unwrap();
    assert!(matches!(seen, Seen::Valid { .. }), "{seen:?}");
}
