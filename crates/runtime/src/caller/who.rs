//! Who typed the command: a person at a terminal, an agent, or a script under a person's account.

use std::fs::File;
use std::io::IsTerminal as _;

use engine::Who;

use super::ancestors::ancestors;
use super::{Caller, Signs, Terminal, judge};
use crate::environment::Environment;

/// What we know, not what was claimed: without a terminal nobody counts as a person.
pub fn who(environment: &Environment) -> Who {
    // The environment is cheap. Costlier checks run only if it shows nothing.
    let ancestors = if environment.agents().is_empty() {
        ancestors()
    } else {
        Vec::new()
    };
    let signs = Signs {
        environment: environment.agents(),
        ancestors: &ancestors,
        terminal: terminal(),
    };
    match judge(&signs) {
        Caller::Agent(sign) => Who::Agent(sign),
        Caller::Person => Who::Person(user(environment)),
        Caller::Unattended => Who::Unattended(user(environment)),
    }
}

/// A person can be asked if the process has a terminal and reads from it.
fn terminal() -> Terminal {
    let typed = std::io::stdin().is_terminal();
    if typed && File::open("/dev/tty").is_ok() {
        Terminal::Here
    } else {
        Terminal::Absent
    }
}

/// The account's name. The password file comes first, because variables are easily set.
pub fn user(environment: &Environment) -> String {
    let id = rustix::process::getuid().as_raw();
    let accounts = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    account(&accounts, id)
        .map(str::to_owned)
        .or_else(|| environment.user.clone())
        .unwrap_or_else(|| format!("user {id}"))
}

/// The home of the account in the password file, whatever a variable says.
pub fn home() -> Option<String> {
    let id = rustix::process::getuid().as_raw();
    let accounts = std::fs::read_to_string("/etc/passwd").ok()?;
    home_of(&accounts, id).map(str::to_owned)
}

fn home_of(accounts: &str, id: u32) -> Option<&str> {
    let id = id.to_string();
    accounts.lines().find_map(|line| {
        let fields: Vec<&str> = line.split(':').collect();
        let home = fields.get(5).filter(|home| home.starts_with('/'))?;
        (*fields.get(2)? == id).then_some(*home)
    })
}

fn account(accounts: &str, id: u32) -> Option<&str> {
    let id = id.to_string();
    accounts.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next().filter(|name| !name.is_empty())?;
        (fields.nth(1)? == id).then_some(name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_account_is_found_by_its_number() {
        let accounts = "# local\nroot:x:0:0::/r:/bin/sh\n:x:5:\nada:x:1000:1000:Ada:/h:/bin/sh\n";
        for (id, expected) in [(0, Some("root")), (1000, Some("ada")), (5, None), (7, None)] {
            assert_eq!(account(accounts, id), expected);
        }
        assert_eq!(home_of(accounts, 1000), Some("/h"));
        assert_eq!(home_of(accounts, 5), None);
    }
}
