//! Kinds of devices, derived from the names of their ports.

/// Prefixes of the names of network interfaces of hosts: of Linux, of adapters of InfiniBand and RoCE.
const OF_HOSTS: &[&str] = &[
    "eno", "ens", "enp", "enx", "ibp", "ibs", "mlx", "bond", "nic", "hca", "rdma", "roce", "gpu",
    "rail", "irdma", "bnxt",
];

/// The same before a digit.
const OF_HOSTS_NUMBERED: &[&str] = &["eth", "em", "ib", "p", "cx"];

/// Prefixes of the names of ports for management, which are of another network.
const OF_MANAGEMENT: &[&str] = &["management", "mgmt", "fxp", "oob", "bmc", "ipmi", "idrac", "ilo"];

/// Whether a port is called as those of hosts, not as those of switches (`Ethernet4`, `swp1`, `et-0/0/1`).
pub(super) fn is_of_host(port: &str) -> bool {
    let port = port.to_ascii_lowercase();
    let is_numbered = |prefix: &str| {
        port.strip_prefix(prefix).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
            && !port.contains('/')
    };
    OF_HOSTS.iter().any(|prefix| port.starts_with(prefix))
        || OF_HOSTS_NUMBERED.iter().any(|&p| is_numbered(p))
}

/// Whether a port is for management. `eth0` of a switch is, too: of a device that has ports called otherwise.
pub(super) fn is_of_management(port: &str) -> bool {
    let port = port.to_ascii_lowercase();
    OF_MANAGEMENT.iter().any(|prefix| port.starts_with(prefix))
}

/// Whether a text is a MAC address, by which Linux calls ports towards others: `0c:42:a1:88:0a:1c`, `001c.73d5.30db`.
pub(super) fn is_mac(text: &str) -> bool {
    let digits = text.chars().filter(char::is_ascii_hexdigit).count();
    digits == 12
        && text.contains([':', '.', '-'])
        && text.chars().all(|c| c.is_ascii_hexdigit() || ":.-".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_ports() {
        for port in ["eth0", "ens4f0", "enp59s0f0", "p4p1", "mlx5_3", "ib0", "HCA-1", "nic3"] {
            assert!(is_of_host(port), "{port}");
        }
        for port in [
            "Ethernet0",
            "Ethernet5/1",
            "swp1",
            "Eth1/1",
            "et-0/0/1",
            "fortyGigE0/4",
            "Port1.1",
            "p1/2",
        ] {
            assert!(!is_of_host(port), "{port}");
        }
        assert!(
            is_of_management("Management0")
                && is_of_management("mgmt0")
                && !is_of_management("Ethernet1")
        );
        assert!(is_mac("0c:42:a1:88:0a:1c") && is_mac("001c.73d5.30db") && !is_mac("Ethernet0"));
    }
}
