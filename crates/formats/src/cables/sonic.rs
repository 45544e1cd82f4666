//! Lists of links as SONiC's test beds have them (sonic-mgmt, ansible/files/sonic_*_links.csv).
//!
//! ```text
//! StartDevice,StartPort,EndDevice,EndPort,BandWidth,VlanID,VlanMode,AutoNeg
//! leaf1,Ethernet0,spine1,Ethernet4,100000,,Trunk,
//! leaf1,Ethernet4,server1,ens4f0,25000,,Trunk,
//! ```
//!
//! The rate is in Mbit/s; further columns are not looked at.

use super::sheet::Sheet;
use crate::format::{Format, Reading};
use crate::known_by::KnownBy;

/// The entry of this format.
pub const FORMAT: Format = Format {
    name: "sonic-links",
    what: "a list of links as SONiC has it",
    summary: "CSV: StartDevice,StartPort,EndDevice,EndPort,BandWidth (SONiC's test beds)",
    known_by: &[KnownBy::Line(|line| SHEET.is_heading(line))],
    read: Reading::Fabric(|c| SHEET.read(c.text, c.path, c.options)),
    ..Format::NONE
};

static SHEET: Sheet = Sheet {
    expected: "links (StartDevice,StartPort,EndDevice,EndPort,BandWidth on the first line)",
    ends: [["startdevice", "startport"], ["enddevice", "endport"]],
    megabits: Some("bandwidth"),
    needs: &["bandwidth"],
};

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::format::Options;

    /// Lines of sonic-net/sonic-mgmt (ansible/files/sonic_strsvc_links.csv at 02c3fb5c, Apache-2.0), one of them with a blank before
    /// its rate, and two that cannot be.
    const FILE: &str = "\
StartDevice,StartPort,EndDevice,EndPort,BandWidth,VlanID,VlanMode,AutoNeg
svcstr-7260cx3-acs-5,Ethernet5/1,svcstr-server-1,enp59s0f0,40000,,Trunk
svcstr-7260cx3-acs-5,Ethernet13/1,svcstr-server-6,ens4f0,100000,,Trunk
svcstr-7260cx3-acs-5,Ethernet6/1,svcstr-7260cx3-acs-3,Ethernet64/1,40000,\"321-328,733-768\",Trunk
svcstr-7260cx3-acs-5,Ethernet11/1,svcstr-z9332f-03,Ethernet256, 10000,\"668\",Trunk
svcstr-7260cx3-acs-5,Ethernet11/1,svcstr-z9332f-04,Ethernet256,10000,\"637-667\",Trunk
svcstr-7260cx3-acs-5,,svcstr-z9332f-04,Ethernet256,10000,,Trunk
";

    #[test]
    fn links_of_a_test_bed() {
        let (topology, d) =
            SHEET.read(FILE, Path::new("links.csv"), &Options::default()).expect("links");
        let fabric = &topology.fabric;
        assert_eq!(
            (fabric.switch_count(), fabric.switch_link_count(), fabric.terminal_count()),
            (3, 2, 2)
        );
        let rates: Vec<&str> = fabric.classes().iter().map(|c| c.label.as_str()).collect();
        assert!(["40G", "100G", "10G"].iter().all(|rate| rates.contains(rate)), "{rates:?}");
        // Ports in their natural order: 5/1, 6/1, 11/1, 13/1.
        let host = fabric.terminals().iter().map(|t| t.switch_port).collect::<Vec<_>>();
        assert_eq!(host, [1, 4]);
        let said: Vec<String> = d.0.iter().map(ToString::to_string).collect();
        assert!(
            said.iter()
                .any(|s| s.contains("line 6") && s.contains("has a cable already, by line 5")),
            "{said:?}"
        );
        assert!(
            said.iter().any(|s| s.contains("line 7") && s.contains("a port without a name")),
            "{said:?}"
        );
        assert!(said.iter().any(|s| s.contains("2 devices count as hosts")), "{said:?}");
    }
}
