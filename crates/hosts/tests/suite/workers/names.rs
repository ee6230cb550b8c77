//! The words by which programs are stored and compared.

use engine::HostName;
use hosts::Program;

#[test]
fn every_program_has_a_word_that_is_a_name() {
    for program in Program::ALL {
        assert_eq!(HostName::parse(program.word()), Ok(program.host_name()));
    }
}

/// Journals without a host mean this one: see `store`, which leaves it out.
#[test]
fn the_default_program_is_the_one_that_journals_leave_out() {
    assert_eq!(Program::DEFAULT.word(), "claude");
}
