//! The view after Ctrl-Z and `fg`.

use super::{ONE, WAITS, World, at_terminal, pictures, until};

#[test]
fn after_ctrl_z_and_fg_the_keys_work_and_one_picture_is_there() {
    let world = World::with(ONE, WAITS);
    let terminal = at_terminal(&world, "PS1='shell ' exec bash --norc --noprofile -i");
    terminal.wait_for("shell");
    terminal.type_text(&super::run(&world));
    terminal.press("Enter");
    terminal.wait_for("l look · a");
    until("it works", || !world.noted("works").is_empty());
    terminal.press("C-z");
    terminal.wait_for("Stopped");
    terminal.type_text("fg");
    terminal.press("Enter");
    terminal.wait_until(|screen| pictures(screen) == 1 && !screen.contains("Stopped"));
    terminal.type_text("a");
    terminal.wait_for("nothing is asked now");
    terminal.type_text("q");
    terminal.wait_for("r-test stopped");
}
