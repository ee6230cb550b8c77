//! One session with the server. The calling thread drives it, and every wait has an end: a network that was cut may say
//! nothing for hours.

use std::future::{Future, poll_fn};
use std::io;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{AsyncMessage, Client, Config, Connection, Row, SimpleQueryMessage, Socket};

use crate::tls::{Stream, Tls};

/// How long a session waits for its server when it closes.
const GOODBYE: Duration = Duration::from_millis(100);

/// Why there is no answer.
#[derive(Debug)]
pub(crate) enum NoAnswer {
    /// It did not come in time. What was asked may have been done or not.
    Silence,
    Client(tokio_postgres::Error),
    /// The session could not even begin on this machine.
    Here(io::Error),
}

impl From<tokio_postgres::Error> for NoAnswer {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Client(error)
    }
}

pub(crate) struct Session {
    /// `None` only while it is dropped.
    client: Option<Client>,
    /// One for each notification.
    heard: UnboundedReceiver<()>,
    driven: JoinHandle<()>,
    runtime: Runtime,
}

impl Session {
    pub(crate) fn connect(config: &Config, tls: Tls, limit: Duration) -> Result<Self, NoAnswer> {
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(NoAnswer::Here)?;
        let (client, connection) = in_time(&runtime, limit, config.connect(tls))?;
        let (sender, heard) = unbounded_channel();
        let driven = runtime.spawn(drive(connection, sender));
        Ok(Self {
            client: Some(client),
            heard,
            driven,
            runtime,
        })
    }

    /// The rows of one statement.
    pub(crate) fn rows(
        &self,
        statement: &str,
        values: &[(&(dyn ToSql + Sync), Type)],
        limit: Duration,
    ) -> Result<Vec<Row>, NoAnswer> {
        match &self.client {
            Some(client) => in_time(&self.runtime, limit, client.query_typed(statement, values)),
            None => Err(NoAnswer::Silence),
        }
    }

    /// Statements without values and rows.
    pub(crate) fn batch(&self, statements: &str, limit: Duration) -> Result<(), NoAnswer> {
        match &self.client {
            Some(client) => in_time(&self.runtime, limit, client.batch_execute(statements)),
            None => Err(NoAnswer::Silence),
        }
    }

    /// The last row of statements without values, as texts.
    pub(crate) fn last_row(
        &self,
        statements: &str,
        limit: Duration,
    ) -> Result<Vec<String>, NoAnswer> {
        let Some(client) = &self.client else {
            return Err(NoAnswer::Silence);
        };
        let told = in_time(&self.runtime, limit, client.simple_query(statements))?;
        let rows = told.into_iter().filter_map(|message| match message {
            SimpleQueryMessage::Row(row) => Some(row),
            _ => None,
        });
        let row = rows.last().ok_or(NoAnswer::Silence)?;
        let texts = (0..row.len()).map(|column| row.get(column).unwrap_or_default().to_owned());
        Ok(texts.collect())
    }

    /// Waits for a notification, at most this long.
    pub(crate) fn hear(&mut self, limit: Duration) -> Result<(), NoAnswer> {
        let heard = &mut self.heard;
        let heard = self
            .runtime
            .block_on(async { timeout(limit, heard.recv()).await });
        match heard {
            // Nobody drives the connection any more: it is closed.
            Ok(None) => Err(NoAnswer::Silence),
            Ok(Some(())) | Err(_) => Ok(()),
        }
    }
}

/// The server hears that the session ends, if it hears at all.
impl Drop for Session {
    fn drop(&mut self) {
        self.client.take();
        let driven = &mut self.driven;
        let _ = self
            .runtime
            .block_on(async { timeout(GOODBYE, driven).await });
    }
}

fn in_time<T>(
    runtime: &Runtime,
    limit: Duration,
    answer: impl Future<Output = Result<T, tokio_postgres::Error>>,
) -> Result<T, NoAnswer> {
    let answered = runtime.block_on(async { timeout(limit, answer).await });
    Ok(answered.map_err(|_| NoAnswer::Silence)??)
}

type Connected = Connection<Socket, Stream>;

/// Moves bytes until the connection ends.
async fn drive(mut connection: Connected, sender: UnboundedSender<()>) {
    while let Some(Ok(message)) = poll_fn(|context| connection.poll_message(context)).await {
        if let AsyncMessage::Notification(_) = message {
            let _ = sender.send(());
        }
    }
}
