//! Starts the server: makes fresh secrets, announces them, and answers until the process ends.

use std::sync::Arc;

use runtime::context::Context;
use runtime::failure::Failure;
use runtime::ids;

use crate::acts;
use crate::fleet::Fleet;
use crate::guard::Secrets;
use crate::page::Base;
use crate::reading::Readers;
use crate::server::Listener;
use crate::site::{Parts, Site};

/// What a person needs to open the page, and to act on it.
pub struct Served {
    pub address: String,
    /// Only for a person at a terminal.
    pub code: Option<String>,
}

/// Answers on this listener until the process ends. `announce` gets the address before the first request.
pub fn serve(
    context: &Context,
    listener: &Listener,
    parts: Parts,
    announce: impl FnOnce(&Served) -> Result<(), Failure>,
) -> Result<(), Failure> {
    // Without a terminal nobody could learn the code from it alone.
    let by = acts::on_page(&context.who());
    let secrets = Secrets {
        port: listener.port(),
        address_key: ids::address_key()?,
        code: by.as_ref().map(|_| ids::typed_code()).transpose()?,
    };
    let base = Base::new(&secrets.address_key);
    announce(&Served {
        address: format!("http://127.0.0.1:{}{}", secrets.port, base.to("")),
        code: secrets.code.clone(),
    })?;
    let context = context.shared();
    let fleet = parts.fleet.clone();
    let fleet = fleet.map(|connect| Fleet::begin(context.clone(), connect));
    listener.serve(&Arc::new(Site {
        secrets,
        base,
        context,
        fleet,
        by,
        readers: Readers::default(),
        parts,
    }));
    Ok(())
}
