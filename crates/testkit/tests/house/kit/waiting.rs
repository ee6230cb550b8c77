//! Waiting: what comes is handed over, and what does not come is not waited for without end.

use std::time::Duration;

use testkit::{until, wait_for, within};

#[test]
fn a_thing_that_comes_is_handed_over_at_the_look_that_finds_it() {
    let mut looks = 0;
    let found = wait_for("the third look", || {
        looks += 1;
        (looks == 3).then_some(looks)
    });
    assert_eq!(found, 3);
    until("one more look", || {
        looks += 1;
        looks == 4
    });
    assert_eq!(looks, 4);
}

#[test]
fn a_thing_that_does_not_come_is_looked_for_once_at_least_and_not_for_longer_than_said() {
    let mut looks = 0;
    let found: Option<()> = within(Duration::ZERO, || {
        looks += 1;
        None
    });
    assert_eq!((found, looks), (None, 1));
}
