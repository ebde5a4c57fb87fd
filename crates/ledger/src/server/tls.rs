//! Encryption: which servers are trusted, and `rustls` in the client's terms.
//!
//! A server is trusted if its certificate was issued by one of the authorities in the file of `sslrootcert`, is valid now, and is for the
//! host in the address. Lists of revoked certificates are not looked at.

use std::{
    future::Future,
    io,
    path::Path,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use postgres::{
    Socket,
    tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream},
};
use rustls::{
    ClientConfig, RootCertStore,
    crypto::ring,
    pki_types::{CertificateDer, InvalidDnsNameError, ServerName, pem::PemObject as _},
};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_rustls::{TlsConnector, client};

use super::error::ConnectError;

/// The name of PostgreSQL's protocol inside of TLS.
const PROTOCOL: &[u8] = b"postgresql";

/// Encryption with servers that the authorities in this file vouch for.
pub(super) fn trusting(authorities: &Path) -> Result<Tls, ConnectError> {
    let wrong = |reason: String| ConnectError::AuthorityFile {
        path: authorities.display().to_string(),
        reason,
    };
    let certificates = CertificateDer::pem_file_iter(authorities);
    let mut roots = RootCertStore::empty();
    for certificate in certificates.map_err(|error| wrong(error.to_string()))? {
        let certificate = certificate.map_err(|error| wrong(error.to_string()))?;
        let added = roots.add(certificate);
        added.map_err(|error| wrong(error.to_string()))?;
    }
    if roots.is_empty() {
        return Err(wrong("it has no certificate".into()));
    }
    let provider = Arc::new(ring::default_provider());
    let config =
        ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let config = config.map_err(|error| wrong(error.to_string()))?;
    let mut config = config.with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = vec![PROTOCOL.to_vec()];
    Ok(Tls(TlsConnector::from(Arc::new(config))))
}

/// Can a certificate be for this host?
pub(super) fn can_be_certified(host: &str) -> bool {
    ServerName::try_from(host).is_ok()
}

#[derive(Clone)]
pub(super) struct Tls(TlsConnector);

impl MakeTlsConnect<Socket> for Tls {
    type Stream = Encrypted;
    type TlsConnect = Handshake;
    type Error = InvalidDnsNameError;

    fn make_tls_connect(&mut self, host: &str) -> Result<Handshake, InvalidDnsNameError> {
        Ok(Handshake {
            connector: self.0.clone(),
            host: ServerName::try_from(host)?.to_owned(),
        })
    }
}

pub(super) struct Handshake {
    connector: TlsConnector,
    host: ServerName<'static>,
}

impl TlsConnect<Socket> for Handshake {
    type Stream = Encrypted;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Encrypted>> + Send>>;

    fn connect(self, socket: Socket) -> Self::Future {
        Box::pin(async move {
            let stream = self.connector.connect(self.host, socket).await?;
            Ok(Encrypted(stream))
        })
    }
}

pub(super) struct Encrypted(client::TlsStream<Socket>);

impl TlsStream for Encrypted {
    /// None: the certificate is verified, and this is a second check of the same thing.
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl AsyncRead for Encrypted {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, buffer)
    }
}

impl AsyncWrite for Encrypted {
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
