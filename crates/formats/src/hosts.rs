//! Grouping of adapters into hosts, and roles of hosts.
//!
//! No format that this crate reads states which adapters share a host, so the rule is a guess, kept in one place:
//! [`host_key`].

use std::collections::HashMap;

use darkfiber_fabric::{FabricBuilder, Guid, HostId, Role};

/// The property that adapters of one host share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HostKey<'a> {
    /// The host name in the node description.
    Name(&'a str),
    /// The system image GUID.
    System(Guid),
    /// None: the adapter (named by its GUID) is a separate host.
    Alone(Guid),
}

/// Device names of drivers: `mlx5_0`, `mlx4_0`, `hfi1_0`, `ibp59s0`, `qib0`, `mthca0`.
const DEVICES: &[&str] = &[
    "mlx", "hfi", "ibp", "ibs", "ib", "qib", "mthca", "ipath", "ehca", "opa", "roce", "irdma",
    "bnxt_re", "efa",
];

/// Default names of hosts without a configured name.
const NOT_NAMES: &[&str] = &["localhost", "(none)", "unknown", "mellanox", "nvidia"];

/// The rule by which adapters are grouped into hosts.
///
/// 1. A description of two words, the second like a device (`HCA-1`, `mlx5_0`, `hfi1_0`, `ibp59s0`),
///    names the host by its first word; except where that is a default (`localhost`).
/// 2. Otherwise adapters with one system image GUID share a host: the two functions of a dual-port
///    card do, whatever their names (`MT4123 ConnectX6   Mellanox Technologies`).
/// 3. In-network aggregation pseudo-adapters ([`Role::Aggregation`]) carry the system image GUID of their switch, and
///    are separate hosts.
///
/// ```
/// use darkfiber_fabric::{Guid, Role};
/// use darkfiber_formats::hosts::{HostKey, host_key};
///
/// let key = |text| host_key(text, Guid(7), Guid(8), Role::Compute);
/// assert_eq!(key("luna-0194 mlx5_0"), HostKey::Name("luna-0194"));
/// assert_eq!(key("localhost mlx5_0"), HostKey::System(Guid(7)));
/// assert_eq!(key("MT4123 ConnectX6   Mellanox Technologies"), HostKey::System(Guid(7)));
/// ```
pub fn host_key(description: &str, system_guid: Guid, guid: Guid, role: Role) -> HostKey<'_> {
    if role == Role::Aggregation {
        return HostKey::Alone(guid);
    }
    match named_host(description) {
        Some(name) => HostKey::Name(name),
        None if system_guid.0 == 0 => HostKey::System(guid),
        None => HostKey::System(system_guid),
    }
}

/// The host name in a node description of the form `name device`, if there is one.
pub fn named_host(description: &str) -> Option<&str> {
    let mut words = description.split_whitespace();
    let (name, device) = (words.next()?, words.next()?);
    if words.next().is_some() || !is_device(device) {
        return None;
    }
    let stem = name.split('.').next().unwrap_or(name);
    let default = NOT_NAMES.iter().any(|n| stem.eq_ignore_ascii_case(n));
    (!default).then_some(name)
}

/// The host part of a description, whether that is a name or the factory text of a card: the first word where the
/// second is a device, otherwise all of it.
pub fn described(description: &str) -> &str {
    let mut words = description.split_whitespace();
    match (words.next(), words.next(), words.next()) {
        (Some(name), Some(device), None) if is_device(device) => name,
        _ => description.trim(),
    }
}

fn is_device(word: &str) -> bool {
    if let Some(number) = word.strip_prefix("HCA-") {
        return !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
    }
    DEVICES.iter().any(|d| word.starts_with(d)) && word.bytes().any(|b| b.is_ascii_digit())
}

/// The role of an adapter with that description, as far as it can be derived: SHARP's `Mellanox Technologies
/// Aggregation Node` pseudo-adapters are recognised, all others compute.
pub fn role_of(description: &str) -> Role {
    if description.contains("Aggregation Node") { Role::Aggregation } else { Role::Compute }
}

/// Assigns hosts to adapters by [`host_key`], in the order of the calls.
#[derive(Debug, Default)]
pub struct HostTable<'a> {
    known: HashMap<HostKey<'a>, HostId>,
}

impl<'a> HostTable<'a> {
    /// The host of an adapter, added to `builder` if it is new. It is named as [`host_key`] says, or
    /// by the whole description.
    pub fn host(
        &mut self,
        builder: &mut FabricBuilder,
        description: &'a str,
        system_guid: Guid,
        guid: Guid,
    ) -> HostId {
        let key = host_key(description, system_guid, guid, role_of(description));
        *self.known.entry(key).or_insert_with(|| {
            builder.add_host(match key {
                HostKey::Name(name) => name,
                HostKey::System(_) | HostKey::Alone(_) => description.trim(),
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn device_like_second_words_name_the_host() {
        for text in ["cn1 HCA-1", "cn1 mlx5_11", "cn1 mlx4_0 ", " cn1  hfi1_0", "cn1 ibp59s0f1"] {
            assert_eq!(named_host(text), Some("cn1"), "{text}");
        }
        for text in [
            "",
            "cn1",
            "localhost HCA-1",
            "localhost.localdomain mlx5_0",
            "cn1 HCA-",
            "cn1 HCA-x",
            "SwitchIB Mellanox Technologies",
            "cn1 eth",
            "MT23108 InfiniHost Mellanox Technologies",
            "(none) mlx5_0",
        ] {
            assert_eq!(named_host(text), None, "{text}");
        }
    }

    #[test]
    fn aggregation_adapters_stand_alone() {
        let text = "Mellanox Technologies Aggregation Node";
        assert_eq!(role_of(text), Role::Aggregation);
        assert_eq!(host_key(text, Guid(1), Guid(2), Role::Aggregation), HostKey::Alone(Guid(2)));
    }
}
