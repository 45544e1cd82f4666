//! Input that the builder refuses, and defaults that it fills in.

use darkfiber_fabric::{
    Adapter, AtPort, BuildError, ChannelId, Fabric, FabricBuilder, Guid, LinkClass, Role, Switch,
    SwitchId, Terminal, TerminalId,
};

fn switch(ports: u8, name: &str) -> Switch {
    Switch { ports, description: name.into(), ..Switch::default() }
}

fn pair() -> (FabricBuilder, SwitchId, SwitchId, u8) {
    let mut b = FabricBuilder::new("pair");
    let class = b.class(LinkClass::unknown());
    let (s, t) = (b.add_switch(switch(4, "s")), b.add_switch(switch(4, "t")));
    (b, s, t, class)
}

fn no_such_port(result: &Result<(), BuildError>) -> bool {
    matches!(result, Err(BuildError::NoSuchPort { .. }))
}

fn taken(result: &Result<(), BuildError>) -> bool {
    matches!(result, Err(BuildError::PortTaken { .. }))
}

#[test]
fn ports_that_do_not_exist() {
    let (mut b, s, t, class) = pair();
    assert!(no_such_port(&b.link_switches((s, 0), (t, 1), class)));
    assert!(no_such_port(&b.link_switches((s, 5), (t, 1), class)));
    assert!(no_such_port(&b.link_switches((s, 1), (t, 255), class)));
    let error = b.add_host_on(s, 9, "cn1", class).expect_err("port 9 of 4");
    assert_eq!(
        error.to_string(),
        "switch 0x0000500000000001 \"s\" has 4 ports, port 9 does not exist"
    );
}

#[test]
fn ports_that_have_a_cable() {
    let (mut b, s, t, class) = pair();
    b.link_switches((s, 1), (t, 1), class).expect("free");
    assert!(taken(&b.link_switches((s, 1), (t, 2), class)));
    assert!(taken(&b.link_switches((s, 2), (t, 1), class)));
    assert!(taken(&b.add_host_on(s, 1, "cn1", class).map(drop)));
    assert!(taken(&b.link_switches((s, 3), (s, 3), class)), "a port to itself");
}

#[test]
fn a_refused_cable_leaves_no_trace() {
    let (mut b, s, t, class) = pair();
    assert!(no_such_port(&b.link_switches((s, 1), (t, 9), class)));
    assert!(!b.is_taken(s, 1));
    assert!(taken(&b.link_switches((s, 3), (s, 3), class)));
    b.link_switches((s, 1), (t, 1), class).expect("still free");
    assert!(b.is_taken(s, 1) && b.is_taken(t, 1));
}

#[test]
fn the_last_port_of_the_largest_switch() {
    let mut b = FabricBuilder::new("large");
    let class = b.class(LinkClass::unknown());
    let (s, t) = (b.add_switch(switch(255, "s")), b.add_switch(switch(255, "t")));
    b.link_switches((s, 255), (t, 64), class).expect("both exist");
    assert!(b.is_taken(s, 255) && !b.is_taken(s, 191) && !b.is_taken(s, 0));
    let f = b.finish().expect("valid");
    assert_eq!(f.at_port(s, 255), AtPort::Switch(ChannelId(0), t));
    assert_eq!(f.at_port(t, 64), AtPort::Switch(ChannelId(1), s));
}

#[test]
fn duplicate_guids() {
    let with = |edit: fn(&mut FabricBuilder)| -> Result<Fabric, BuildError> {
        let (mut b, s, t, class) = pair();
        b.link_switches((s, 1), (t, 1), class)?;
        edit(&mut b);
        b.finish()
    };
    let duplicate = |r| matches!(r, Err(BuildError::DuplicateGuid { .. }));
    assert!(with(|_| ()).is_ok());
    assert!(duplicate(with(|b| {
        b.add_switch(Switch { guid: Guid(0x5000_0000_0001), ..switch(4, "u") });
    })));
    assert!(duplicate(with(|b| {
        let host = b.add_host("cn1");
        b.add_adapter(Adapter { guid: Guid(0x5000_0000_0001), host, ..Adapter::default() });
    })));
    assert!(duplicate(with(|b| {
        let host = b.add_host("cn1");
        for port in [2, 3] {
            let adapter = b.add_adapter(Adapter { ports: 1, host, ..Adapter::default() });
            b.link_terminal(Terminal {
                adapter,
                port: 1,
                guid: Guid(42),
                switch: SwitchId(0),
                switch_port: port,
                lid: None,
                lmc: 0,
                role: Role::Compute,
                class: 0,
            })
            .expect("free");
        }
    })));
}

#[test]
fn guids_that_are_filled_in() {
    let (mut b, s, t, class) = pair();
    b.add_host_on(s, 1, "cn1", class).expect("free");
    b.add_host_on(t, 1, "cn2", class).expect("free");
    let f = b.finish().expect("valid");
    assert_eq!(f.switch(t).guid, Guid(0x5000_0000_0002));
    assert_eq!(f.switch(t).system_guid, f.switch(t).guid);
    let adapter = f.adapter(f.terminal(TerminalId(1)).adapter);
    assert_eq!(adapter.guid, Guid(0x2000_0000_0020));
    assert_eq!(adapter.description, "cn2 HCA-1");
    assert_eq!(f.terminal(TerminalId(1)).guid, Guid(0x2000_0000_0021));
}

#[test]
fn the_highest_guid_does_not_overflow() {
    let (mut b, s, _, class) = pair();
    let host = b.add_host("cn1");
    let adapter =
        b.add_adapter(Adapter { guid: Guid(u64::MAX), ports: 1, host, ..Adapter::default() });
    b.link_terminal(Terminal {
        adapter,
        port: 1,
        guid: Guid(0),
        switch: s,
        switch_port: 1,
        lid: None,
        lmc: 0,
        role: Role::Compute,
        class,
    })
    .expect("free");
    assert!(b.finish().is_ok());
}

#[test]
fn classes_are_told_apart_up_to_255() {
    let mut b = FabricBuilder::new("classes");
    assert_eq!(b.class(LinkClass::unknown()), 0);
    assert_eq!(b.class(LinkClass::other("1", 1)), 1);
    assert_eq!(b.class(LinkClass::unknown()), 0, "equal classes are one");
    for i in 2..255u64 {
        assert_eq!(u64::from(b.class(LinkClass::other("x", i))), i);
    }
    b.class(LinkClass::other("x", 255));
    assert_eq!(b.finish().expect_err("256 classes"), BuildError::TooManyClasses);
}
