//! A scripted model on loopback: it speaks the Messages API as far as Claude Code needs it, and those of
//! Codex and Gemini CLI.
//!
//! ```no_run
//! use testkit::model::{Actor, Model, agent_in_foreground, bash, say};
//!
//! let model = Model::start([
//!     Actor::new("GO-MAIN", [agent_in_foreground("writer", "GO-WRITER"), say("DONE")]),
//!     Actor::new("GO-WRITER", [bash("echo text > file"), say("WRITTEN")]),
//! ]);
//! // ... the host runs ...
//! assert!(model.told("GO-MAIN").contains("WRITTEN"));
//! ```

pub(crate) mod answer;
mod generate;
mod protocol;
mod request;
mod responses;
mod script;
mod stage;
pub(crate) mod wire;

use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

use serde_json::Value;

pub use request::{Kind, Request, ToolResult};
pub use script::{
    Actor, Turn, agent, agent_in_foreground, bash, call, fail, fail_first, hold, limit_first, make,
    say, send_message, write,
};
use stage::Stage;
use wire::{Incoming, Wire};

/// The server. It stops on drop; open requests get no answer.
pub struct Model {
    address: SocketAddr,
    stage: Arc<Stage>,
}

impl Model {
    /// Starts to listen on a free port.
    pub fn start(script: impl IntoIterator<Item = Actor>) -> Self {
        let listener =
            TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("loopback has a free port");
        let address = listener.local_addr().expect("a listener has an address");
        let stage = Arc::new(Stage::new(script.into_iter().collect()));
        let serving = Arc::clone(&stage);
        thread::spawn(move || listen(&listener, &serving));
        Self { address, stage }
    }

    /// What `ANTHROPIC_BASE_URL` and `GOOGLE_GEMINI_BASE_URL` are set to. Codex needs `/v1` after it.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Lets every turn go on that is held by this flag, now and later.
    pub fn release(&self, flag: &str) {
        self.stage.release(flag);
    }

    /// Waits until some conversation has come to a turn that is held by this flag.
    ///
    /// # Panics
    /// When none has in time.
    #[track_caller]
    pub fn wait_until_held(&self, flag: &str) {
        self.stage.wait_until_held(flag);
    }

    /// Waits until the actor has been told a text that contains these words, and hands over all that
    /// it has been told.
    ///
    /// # Panics
    /// When it has not in time.
    #[track_caller]
    pub fn wait_until_told(&self, actor: &str, words: &str) -> String {
        self.stage.wait_until_told(actor, words)
    }

    /// All that the actor has been told, each thing once: prompts, results of tools, reminders and
    /// context, in the order in which they came.
    ///
    /// # Panics
    /// When the script has no such actor.
    #[track_caller]
    pub fn told(&self, actor: &str) -> String {
        self.stage.told(actor)
    }

    /// Every request so far, in the order in which they came.
    pub fn requests(&self) -> Vec<Request> {
        self.stage.requests()
    }

    /// The requests that this actor has answered, repeated ones too.
    pub fn requests_of(&self, actor: &str) -> Vec<Request> {
        let requests = self.requests().into_iter();
        requests
            .filter(|request| request.actor.as_deref() == Some(actor))
            .collect()
    }

    /// The requests in conversations for which the script has no actor. A test that must be sure of
    /// its markers asserts that there are none.
    pub fn strangers(&self) -> Vec<Request> {
        let requests = self.requests().into_iter();
        requests
            .filter(|request| request.kind == Kind::Conversation && request.actor.is_none())
            .collect()
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        self.stage.close();
        // The listener waits for a caller, so it gets one. If it is gone already, all is well.
        let _ = TcpStream::connect(self.address);
    }
}

fn listen(listener: &TcpListener, stage: &Arc<Stage>) {
    for stream in listener.incoming() {
        if stage.is_closed() {
            return;
        }
        let stage = Arc::clone(stage);
        // A connection that breaks is the client's business: it was ended, or it calls again.
        let serve = move || stream.and_then(|stream| serve(stream, &stage));
        thread::spawn(serve);
    }
}

fn serve(stream: TcpStream, stage: &Stage) -> std::io::Result<()> {
    let mut wire = Wire::new(stream)?;
    while let Some(incoming) = wire.receive()? {
        let method = incoming.method.clone();
        let Some(answer) = stage.answer(read(incoming)) else {
            return Ok(());
        };
        wire.send(&answer, &method)?;
    }
    Ok(())
}

fn read(incoming: Incoming) -> Request {
    let body = serde_json::from_slice(&incoming.body).unwrap_or(Value::Null);
    let line = format!("{} {}", incoming.method, incoming.path);
    Request::new(line, incoming.session, body)
}
