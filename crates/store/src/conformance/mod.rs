//! What every backend must do: each guarantee is a function that the backend's tests run.

mod concurrency;
mod contents;
mod imports;
mod journals;
mod leases;
pub mod test_run;

use crate::Backend;

/// Opens another handle on the same store, which was empty at first.
pub type Open<'a> = &'a (dyn Fn() -> Box<dyn Backend> + Sync);

pub type Checked = Result<(), Box<dyn std::error::Error>>;

/// A guarantee in words, and the function that asserts it on a fresh store.
pub type Case = (&'static str, fn(Open<'_>) -> Checked);

macro_rules! cases {
    ($($module:ident::$name:ident),* $(,)?) => {
        /// All guarantees. A test opens a fresh store for each of them.
        pub const CASES: &[Case] = &[$((stringify!($name), $module::$name)),*];
    };
}

cases![
    journals::a_run_that_was_begun_is_found_again,
    journals::an_id_is_used_once,
    journals::a_key_begins_one_run,
    journals::a_repeated_key_is_one_event,
    journals::a_version_that_moved_is_told,
    journals::a_decision_without_entries_stores_nothing,
    journals::a_decision_that_does_not_fit_stores_nothing,
    journals::the_entries_of_a_run_are_a_gapless_chain,
    journals::a_journal_folds_to_its_state,
    journals::a_checkpoint_is_found_at_its_last_place,
    journals::sixty_four_threads_leave_sixty_four_events,
    journals::sixty_four_threads_with_one_key_leave_one_event,
    journals::an_unknown_run_is_told,
    concurrency::sixty_four_runs_advance_at_once,
    concurrency::a_refusal_among_many_undoes_nobody,
    concurrency::two_holders_of_each_run_make_one_lease,
    leases::a_run_is_held_by_one_holder,
    leases::an_expired_lease_is_its_holders_until_it_is_taken,
    leases::the_lease_of_a_dead_holder_is_taken_at_once,
    leases::the_number_of_a_lease_only_grows,
    leases::a_stale_fence_stores_nothing,
    contents::contents_are_found_by_their_hash,
    contents::content_under_a_wrong_hash_is_refused,
    contents::definitions_are_found_by_their_hash,
    contents::a_run_is_pinned_to_the_bytes_it_names,
    contents::secrets_are_gone_before_anything_is_stored,
    contents::a_list_shows_how_each_run_stands,
    contents::only_what_is_over_and_unheld_is_collected,
    contents::an_export_holds_everything_of_a_run,
    imports::a_run_is_imported_once_and_whole,
];
