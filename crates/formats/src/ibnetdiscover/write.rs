//! A fabric as an `ibnetdiscover` file.

use std::borrow::Cow;
use std::io::{self, Write};

use darkfiber_fabric::{
    Adapter, AdapterId, AtPort, Fabric, LinkClass, Switch, SwitchId, Terminal, TerminalId,
};
use darkfiber_routing::Lids;

/// Writes a fabric as `ibnetdiscover` would print it, LIDs from `lids` or, without them, from the
/// fabric.
///
/// [`read`](super::read()) gives the fabric back, and ibsim takes the file (its limits: lines of 255
/// characters, which descriptions of up to 64 characters, the InfiniBand limit, never reach). The
/// first adapter with a link comes first, because ibsim attaches the subnet manager to the first node
/// of its file; the order among switches and among adapters is kept.
///
/// The format cannot hold roles other than compute and aggregation, link classes of other
/// technologies than InfiniBand, and hosts that do not follow from descriptions and system image
/// GUIDs. Descriptions are written verbatim, except that control characters become blanks.
///
/// # Errors
/// Any error of `out`.
pub fn write(out: &mut dyn Write, fabric: &Fabric, lids: Option<&Lids>) -> io::Result<()> {
    let mut writer = Writer { out, fabric, lids, of_adapter: terminals_by_adapter(fabric) };
    writeln!(writer.out, "#\n# Topology file: {}", plain(fabric.name()))?;
    writeln!(
        writer.out,
        "# {} switches, {} adapters, {} links\n#",
        fabric.switch_count(),
        fabric.adapters().len(),
        fabric.link_count()
    )?;
    // Records of adapters up to the first one with a link, then switches, then the other adapters.
    let first = writer.of_adapter.iter().position(|t| !t.is_empty());
    let split = first.map_or(0, |a| a + 1);
    for a in 0..split {
        writer.adapter(AdapterId::new(a))?;
    }
    for s in 0..fabric.switch_count() {
        writer.switch(SwitchId::new(s))?;
    }
    for a in split..fabric.adapters().len() {
        writer.adapter(AdapterId::new(a))?;
    }
    Ok(())
}

struct Writer<'a> {
    out: &'a mut dyn Write,
    fabric: &'a Fabric,
    lids: Option<&'a Lids>,
    of_adapter: Vec<Vec<TerminalId>>,
}

/// Terminals of each adapter by rising port.
fn terminals_by_adapter(fabric: &Fabric) -> Vec<Vec<TerminalId>> {
    let mut of = vec![Vec::new(); fabric.adapters().len()];
    for (i, t) in fabric.terminals().iter().enumerate() {
        of[t.adapter.index()].push(TerminalId::new(i));
    }
    for ports in &mut of {
        ports.sort_by_key(|t| fabric.terminal(*t).port);
    }
    of
}

impl Writer<'_> {
    fn switch_lid(&self, s: SwitchId) -> u16 {
        match self.lids {
            Some(lids) => lids.switch(s),
            None => self.fabric.switch(s).lid.unwrap_or(0),
        }
    }

    fn terminal_lid(&self, t: TerminalId) -> (u16, u8) {
        let terminal = self.fabric.terminal(t);
        match self.lids {
            Some(lids) => (lids.terminal(t), lids.lmc()),
            None => (terminal.lid.unwrap_or(0), terminal.lmc),
        }
    }

    fn switch(&mut self, s: SwitchId) -> io::Result<()> {
        let fabric = self.fabric;
        let switch = fabric.switch(s);
        let guid = switch.guid.0;
        writeln!(
            self.out,
            "\nvendid=0x{:x}\ndevid=0x{:x}\nsysimgguid=0x{:x}\nswitchguid=0x{guid:x}({guid:x})",
            switch.vendor, switch.device, switch.system_guid.0
        )?;
        writeln!(
            self.out,
            "Switch\t{} \"S-{guid:016x}\"\t\t# \"{}\" {} port 0 lid {} lmc 0",
            switch.ports,
            plain(&switch.description),
            if switch.enhanced_port0 { "enhanced" } else { "base" },
            self.switch_lid(s)
        )?;
        let loopbacks: Vec<_> = fabric.loopbacks().iter().filter(|l| l.switch == s).collect();
        for port in 1..=switch.ports {
            match fabric.at_port(s, port) {
                AtPort::Nothing => {}
                AtPort::Switch(c, far) => {
                    self.switch_port(port, far, fabric.head_port(c), fabric.class_of(c))?;
                }
                AtPort::Terminal(t) => self.terminal_port(port, t)?,
                AtPort::Loopback => {
                    for l in &loopbacks {
                        let class = &fabric.classes()[usize::from(l.class)];
                        match l.ports {
                            (p, far) | (far, p) if p == port => {
                                self.switch_port(port, s, far, class)?;
                            }
                            _ => {}
                        }
                    }
                }
            }
        }
        Ok(())
    }

    fn switch_port(
        &mut self,
        port: u8,
        far: SwitchId,
        far_port: u8,
        class: &LinkClass,
    ) -> io::Result<()> {
        let Switch { guid, description, .. } = self.fabric.switch(far);
        writeln!(
            self.out,
            "[{port}]\t\"S-{:016x}\"[{far_port}]\t\t# \"{}\" lid {}{}",
            guid.0,
            brief(description),
            self.switch_lid(far),
            label(class)
        )
    }

    fn terminal_port(&mut self, port: u8, t: TerminalId) -> io::Result<()> {
        let terminal = self.fabric.terminal(t);
        let Adapter { guid, description, .. } = self.fabric.adapter(terminal.adapter);
        writeln!(
            self.out,
            "[{port}]\t\"H-{:016x}\"[{}]({:x}) \t\t# \"{}\" lid {}{}",
            guid.0,
            terminal.port,
            terminal.guid.0,
            brief(description),
            self.terminal_lid(t).0,
            label(self.fabric.terminal_class(t))
        )
    }

    fn adapter(&mut self, a: AdapterId) -> io::Result<()> {
        let adapter = self.fabric.adapter(a);
        let guid = adapter.guid.0;
        writeln!(
            self.out,
            "\nvendid=0x{:x}\ndevid=0x{:x}\nsysimgguid=0x{:x}\ncaguid=0x{guid:x}",
            adapter.vendor, adapter.device, adapter.system_guid.0
        )?;
        writeln!(
            self.out,
            "Ca\t{} \"H-{guid:016x}\"\t\t# \"{}\"",
            adapter.ports,
            plain(&adapter.description)
        )?;
        for &t in &self.of_adapter[a.index()] {
            let Terminal { port, guid, switch, switch_port, .. } = self.fabric.terminal(t);
            let (lid, lmc) = self.terminal_lid(t);
            writeln!(
                self.out,
                "[{port}]({:x}) \t\"S-{:016x}\"[{switch_port}]\t\t# lid {lid} lmc {lmc} \"{}\" lid {}{}",
                guid.0,
                self.fabric.switch(*switch).guid.0,
                brief(&self.fabric.switch(*switch).description),
                self.switch_lid(*switch),
                label(self.fabric.terminal_class(t))
            )?;
        }
        Ok(())
    }
}

/// A blank and the rate of the link; empty where it is unknown. Rates without an InfiniBand name are written in this
/// crate's form, which other readers of such comments ignore.
fn label(class: &LinkClass) -> String {
    class.word().map_or_else(String::new, |word| format!(" {word}"))
}

fn plain(text: &str) -> Cow<'_, str> {
    if text.contains(char::is_control) {
        text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect::<String>().into()
    } else {
        text.into()
    }
}

/// A description where it is only a comment: at most the 64 bytes that InfiniBand allows.
fn brief(text: &str) -> Cow<'_, str> {
    let end = (0..=64).rev().find(|&n| text.is_char_boundary(n)).unwrap_or(0);
    plain(&text[..end.min(text.len())])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_cut_at_character_boundaries() {
        assert_eq!(brief("short"), "short");
        assert_eq!(brief(&"\u{e4}".repeat(40)).len(), 64);
        assert_eq!(brief(&format!("x{}", "\u{e4}".repeat(40))).len(), 63);
    }
}
