//! A scripted model on loopback that speaks the Responses API, as far as Codex needs it.

use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use serde_json::{Value, json};

use crate::model::answer::Answer;
use crate::model::wire::Wire;

/// What the model answers to one request.
#[derive(Clone, Debug)]
pub enum CodexTurn {
    Say(String),
    /// A command for its shell.
    Run(String),
    Fail(u16),
}

pub fn say(text: &str) -> CodexTurn {
    CodexTurn::Say(text.to_owned())
}

pub fn run(command: &str) -> CodexTurn {
    CodexTurn::Run(command.to_owned())
}

pub fn fail(status: u16) -> CodexTurn {
    CodexTurn::Fail(status)
}

/// The server. It plays its turns one after another, for any caller, and repeats the last one.
pub struct CodexModel {
    address: SocketAddr,
    script: Arc<Script>,
}

struct Script {
    turns: Vec<CodexTurn>,
    requests: Mutex<Vec<Value>>,
    closed: AtomicBool,
}

impl CodexModel {
    /// Starts to listen on a free port.
    pub fn start(turns: impl IntoIterator<Item = CodexTurn>) -> Self {
        let listener =
            TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("loopback has a free port");
        let address = listener.local_addr().expect("a listener has an address");
        let script = Arc::new(Script {
            turns: turns.into_iter().collect(),
            requests: Mutex::default(),
            closed: AtomicBool::new(false),
        });
        let serving = Arc::clone(&script);
        thread::spawn(move || listen(&listener, &serving));
        Self { address, script }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Every request for an answer so far, in the order in which they came.
    pub fn requests(&self) -> Vec<Value> {
        self.script.requests().clone()
    }

    /// All that the model has been told in the last request.
    pub fn told(&self) -> String {
        let requests = self.requests();
        requests.last().map(ToString::to_string).unwrap_or_default()
    }
}

impl Drop for CodexModel {
    fn drop(&mut self) {
        self.script.closed.store(true, Ordering::Relaxed);
        // The listener waits for a caller, so it gets one. If it is gone already, all is well.
        let _ = TcpStream::connect(self.address);
    }
}

fn listen(listener: &TcpListener, script: &Arc<Script>) {
    for stream in listener.incoming() {
        if script.closed.load(Ordering::Relaxed) {
            return;
        }
        let script = Arc::clone(script);
        // A connection that breaks is the client's business: it was ended, or it calls again.
        thread::spawn(move || stream.and_then(|stream| serve(stream, &script)));
    }
}

fn serve(stream: TcpStream, script: &Script) -> std::io::Result<()> {
    let mut wire = Wire::new(stream)?;
    while let Some(incoming) = wire.receive()? {
        let answer = if incoming.path.ends_with("/responses") && incoming.method == "POST" {
            script.answer(serde_json::from_slice(&incoming.body).unwrap_or_default())
        } else {
            Answer::error(404, "there is nothing here")
        };
        wire.send(&answer, &incoming.method)?;
    }
    Ok(())
}

impl Script {
    fn requests(&self) -> std::sync::MutexGuard<'_, Vec<Value>> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn answer(&self, request: Value) -> Answer {
        let mut requests = self.requests();
        let number = requests.len();
        requests.push(request);
        match self.turns.get(number).or(self.turns.last()) {
            Some(CodexTurn::Say(text)) => stream(number, &message(text)),
            Some(CodexTurn::Run(command)) => stream(number, &call(number, command)),
            Some(CodexTurn::Fail(status)) => Answer::error(*status, "the script says so"),
            None => Answer::error(400, "the script is empty"),
        }
    }
}

fn message(text: &str) -> Value {
    let content = json!([{ "type": "output_text", "text": text }]);
    json!({ "type": "message", "role": "assistant", "content": content })
}

fn call(number: usize, command: &str) -> Value {
    json!({
        "type": "function_call",
        "call_id": format!("call-{number}"),
        "name": "exec_command",
        "arguments": json!({ "cmd": command }).to_string(),
    })
}

/// Every answer costs the same: 100 tokens to read, 10 to write.
fn stream(number: usize, item: &Value) -> Answer {
    let id = format!("response-{number}");
    let usage = json!({
        "input_tokens": 100,
        "input_tokens_details": null,
        "output_tokens": 10,
        "output_tokens_details": null,
        "total_tokens": 110,
    });
    let events = [
        json!({ "type": "response.created", "response": { "id": id } }),
        json!({ "type": "response.output_item.done", "item": item }),
        json!({ "type": "response.completed", "response": { "id": id, "usage": usage } }),
    ];
    let text = |event: &Value| {
        let name = event["type"].as_str().unwrap_or_default();
        format!("event: {name}\ndata: {event}\n\n")
    };
    Answer {
        status: 200,
        content_type: "text/event-stream",
        body: events.iter().map(text).collect(),
    }
}
