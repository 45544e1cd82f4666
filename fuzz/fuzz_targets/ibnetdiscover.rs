//! Dumps and port lists: no panic, and what is read can be written and read again.
#![no_main]

use std::path::Path;

use darkfiber_formats::ibnetdiscover;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    let path = Path::new("fuzz");
    let _ = ibnetdiscover::read_ports(&text, path);
    if let Ok((topology, _)) = ibnetdiscover::read(&text, path) {
        let fabric = topology.fabric;
        let mut out = Vec::new();
        ibnetdiscover::write(&mut out, &fabric, None).expect("memory");
        let again = String::from_utf8(out).expect("text");
        if fabric.switch_count() + fabric.adapters().len() > 0 {
            let (again, _) = ibnetdiscover::read(&again, path).expect("a dump");
            assert_eq!(again.fabric.link_count(), fabric.link_count());
        }
    }
});
