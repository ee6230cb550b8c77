//! A machine: its driver, a process of its own, and its own way to the database.

use std::fs::{self, File};
use std::io;
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use testkit::proxy::Proxy;

use crate::Result;
use crate::driver::Place;

pub(crate) struct Machine {
    pub place: Place,
    pub proxy: Proxy,
    address: String,
    pieces: usize,
    driver: Child,
}

impl Machine {
    /// Starts its driver. `address` is that of the database behind this port.
    pub(crate) fn start(place: Place, port: u16, address: &str, pieces: usize) -> Result<Self> {
        let proxy = Proxy::to(port);
        let address = address.replace(&format!(":{port}/"), &format!(":{}/", proxy.port()));
        let driver = spawn(&place, &address, pieces)?;
        Ok(Self {
            place,
            proxy,
            address,
            pieces,
            driver,
        })
    }

    /// What the driver calls itself in leases.
    pub(crate) fn holder(&self) -> String {
        format!("{}-{}", self.place.machine, self.driver.id())
    }

    /// kill -9.
    pub(crate) fn kill(&mut self) -> Result<()> {
        self.driver.kill()?;
        self.driver.wait()?;
        Ok(())
    }

    pub(crate) fn start_again(&mut self) -> Result<()> {
        self.driver = spawn(&self.place, &self.address, self.pieces)?;
        Ok(())
    }

    /// The driver does nothing more, and knows nothing of it.
    pub(crate) fn freeze(&self) -> Result<()> {
        self.signal(Signal::STOP)
    }

    pub(crate) fn wake(&self) -> Result<()> {
        self.signal(Signal::CONT)
    }

    fn signal(&self, signal: Signal) -> Result<()> {
        let id = i32::try_from(self.driver.id())?;
        let process = Pid::from_raw(id).ok_or("a process has an id")?;
        Ok(kill_process(process, signal)?)
    }

    /// Sets its clock this far off.
    pub(crate) fn set_clock(&self, offset_ms: i64) -> Result<()> {
        // Renamed into place: the driver reads it at any moment.
        let new = self.place.clock().with_extension("new");
        fs::write(&new, offset_ms.to_string())?;
        Ok(fs::rename(&new, self.place.clock())?)
    }

    /// How its driver ended, if it did by itself: nobody told it to.
    pub(crate) fn ended(&mut self) -> Result<Option<String>> {
        let status = self.driver.try_wait()?;
        Ok(status.map(|status| format!("the driver {} ended: {status}", self.holder())))
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

fn spawn(place: &Place, address: &str, pieces: usize) -> io::Result<Child> {
    let said = place.folder.join(format!("said-{}", place.machine));
    let said = File::options().create(true).append(true).open(said)?;
    let mut driver = Command::new(std::env::current_exe()?);
    driver.arg("driver").arg(address).arg(&place.folder);
    driver.arg(&place.machine).arg(pieces.to_string());
    // Its standard input ends with us, and then it ends.
    driver.stdin(Stdio::piped()).stdout(Stdio::null());
    driver.stderr(said).spawn()
}
