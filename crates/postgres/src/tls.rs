//! Encrypted connections: rustls, with the certificates of the system or of a file.

use std::future::Future;
use std::io;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::Socket;
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect};
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, InvalidDnsNameError, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

/// Where systems keep the certificates that they trust.
const SYSTEM_CERTIFICATES: [&str; 4] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

/// Makes encrypted connections. The server's certificate must be valid and must have the server's name.
#[derive(Clone)]
pub(crate) struct Tls(Arc<ClientConfig>);

impl Tls {
    /// One for connections that are not encrypted: it trusts nobody.
    pub(crate) fn unused() -> io::Result<Self> {
        Self::trusting(RootCertStore::empty())
    }

    /// Trusts the certificates of this file, or those of the system.
    pub(crate) fn new(file: Option<&PathBuf>) -> io::Result<Self> {
        let mut roots = RootCertStore::empty();
        match file {
            Some(file) => add(&mut roots, file)?,
            None => {
                let there = SYSTEM_CERTIFICATES.map(Path::new).into_iter();
                let mut first = there.filter(|path| path.exists()).take(1);
                first.try_for_each(|path| add(&mut roots, path))?;
            }
        }
        Self::trusting(roots)
    }

    fn trusting(roots: RootCertStore) -> io::Result<Self> {
        let provider = Arc::new(ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(io::Error::other)?;
        let config = builder.with_root_certificates(roots).with_no_client_auth();
        Ok(Self(Arc::new(config)))
    }
}

fn add(roots: &mut RootCertStore, file: &Path) -> io::Result<()> {
    let wrong = |error| {
        io::Error::other(format!(
            "cannot read the certificates in {}: {error}",
            file.display()
        ))
    };
    let certificates = CertificateDer::pem_file_iter(file).map_err(wrong)?;
    let certificates = certificates.collect::<Result<Vec<_>, _>>().map_err(wrong)?;
    roots.add_parsable_certificates(certificates);
    Ok(())
}

impl MakeTlsConnect<Socket> for Tls {
    type Stream = Stream;
    type TlsConnect = Connect;
    type Error = InvalidDnsNameError;

    fn make_tls_connect(&mut self, domain: &str) -> Result<Connect, InvalidDnsNameError> {
        let name = ServerName::try_from(domain.to_owned())?;
        let connector = TlsConnector::from(Arc::clone(&self.0));
        Ok(Connect { connector, name })
    }
}

/// One handshake.
pub(crate) struct Connect {
    connector: TlsConnector,
    name: ServerName<'static>,
}

impl TlsConnect<Socket> for Connect {
    type Stream = Stream;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Stream>> + Send>>;

    fn connect(self, socket: Socket) -> Self::Future {
        let handshake = self.connector.connect(self.name, socket);
        Box::pin(async move { handshake.await.map(|stream| Stream(Box::new(stream))) })
    }
}

/// An encrypted stream with the traits that the client needs.
pub(crate) struct Stream(Box<tokio_rustls::client::TlsStream<Socket>>);

impl tokio_postgres::tls::TlsStream for Stream {
    fn channel_binding(&self) -> ChannelBinding {
        // The certificate was verified, which binds the password's exchange to this server.
        ChannelBinding::none()
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, buffer)
    }
}

impl AsyncWrite for Stream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}
