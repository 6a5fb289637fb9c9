//! Which hosts may be asked. An address in a document or on a page must not lead into the author's own
//! network: names are looked up first, and what they stand for is checked, at every redirect again.

use hyper_util::client::legacy::connect::dns::Name;
use std::future::Future;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs};
use std::pin::Pin;
use std::task::{Context, Poll};

/// The hosts that a client may connect to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Reach {
    /// All: for addresses that a person typed, such as that of a language model on this machine.
    #[default]
    Anywhere,
    /// Only hosts on the internet.
    Public,
}

impl Reach {
    /// Whether a connection to `address` is allowed.
    pub fn allows(self, address: IpAddr) -> bool {
        self == Self::Anywhere || is_public(address)
    }
}

/// Whether an address belongs to the internet: not this machine, not a local network, not reserved.
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => is_public_v4(v4),
        IpAddr::V6(v6) => is_public_v6(v6),
    }
}

fn is_public_v4(a: Ipv4Addr) -> bool {
    let [first, second, third, _] = a.octets();
    let reserved = match (first, second, third) {
        // This network; carrier-grade NAT; protocol assignments; benchmarks; class E.
        (0, ..) | (100, 64..=127, _) | (192, 0, 0) | (198, 18..=19, _) | (240.., ..) => true,
        _ => false,
    };
    !(reserved
        || a.is_loopback()
        || a.is_private()
        || a.is_link_local()
        || a.is_multicast()
        || a.is_broadcast()
        || a.is_documentation())
}

fn is_public_v6(a: Ipv6Addr) -> bool {
    let s = a.segments();
    let inner = |high: u16, low: u16| {
        let [a, b] = high.to_be_bytes();
        let [c, d] = low.to_be_bytes();
        is_public_v4(Ipv4Addr::new(a, b, c, d))
    };
    match s {
        // An IPv4 address in disguise: mapped, translated (NAT64), 6to4.
        [0, 0, 0, 0, 0, 0xFFFF, high, low] | [0x64, 0xFF9B, 0, 0, 0, 0, high, low] => inner(high, low),
        [0x2002, high, low, ..] => inner(high, low),
        // Compatible addresses, loopback and none.
        [0, 0, 0, 0, 0, 0, ..] => false,
        // Unique local, link local, site local, multicast, documentation, discard.
        [0xFC00..=0xFDFF, ..]
        | [0xFE80..=0xFEFF, ..]
        | [0xFF00..=0xFFFF, ..]
        | [0x2001, 0xDB8, ..]
        | [0x100, 0, 0, 0, ..] => false,
        _ => true,
    }
}

/// What is wrong with connecting to a host by this name; names are looked up later, by [`Resolver`].
pub(super) fn refused(reach: Reach, host: &str) -> Option<String> {
    let literal: IpAddr = host.trim_start_matches('[').trim_end_matches(']').parse().ok()?;
    (!reach.allows(literal)).then(|| format!("{host} {PRIVATE}"))
}

/// Completes "HOST …".
pub(crate) const PRIVATE: &str = "is an address of this machine or of a local network";

/// Looks names up and keeps the addresses that are allowed.
#[derive(Debug, Clone)]
pub(super) struct Resolver(pub Reach);

impl tower_service::Service<Name> for Resolver {
    type Response = std::vec::IntoIter<SocketAddr>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Self::Response>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, name: Name) -> Self::Future {
        let reach = self.0;
        Box::pin(async move {
            let host = name.as_str().to_owned();
            let looked_up = tokio::task::spawn_blocking(move || {
                (name.as_str(), 0).to_socket_addrs().map(|found| found.collect::<Vec<_>>())
            });
            let found = looked_up.await.map_err(io::Error::other)??;
            let allowed: Vec<SocketAddr> = found.iter().copied().filter(|a| reach.allows(a.ip())).collect();
            if allowed.is_empty() && !found.is_empty() {
                return Err(io::Error::new(io::ErrorKind::PermissionDenied, format!("{host} {PRIVATE}")));
            }
            Ok(allowed.into_iter())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_internet_is_public() {
        for private in [
            "127.0.0.1",
            "127.8.8.8",
            "10.1.2.3",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.1.1",
            "169.254.169.254",
            "0.0.0.0",
            "100.64.0.1",
            "198.18.0.1",
            "224.0.0.1",
            "255.255.255.255",
            "192.0.2.1",
            "::1",
            "::",
            "fe80::1",
            "fd00::1",
            "fc00::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "64:ff9b::7f00:1",
            "2002:7f00:1::",
            "ff02::1",
            "::7f00:1",
        ] {
            assert!(!is_public(private.parse().expect(private)), "{private}");
            assert!(Reach::Anywhere.allows(private.parse().expect(private)));
        }
        for public in [
            "1.1.1.1",
            "140.82.112.3",
            "172.32.0.1",
            "100.128.0.1",
            "2606:4700::1111",
            "::ffff:8.8.8.8",
            "64:ff9b::808:808",
        ] {
            assert!(is_public(public.parse().expect(public)), "{public}");
        }
        assert!(refused(Reach::Public, "[::1]").is_some() && refused(Reach::Public, "127.0.0.1").is_some());
        assert!(refused(Reach::Public, "example.org").is_none() && refused(Reach::Anywhere, "127.0.0.1").is_none());
    }
}
