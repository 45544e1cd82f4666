//! One line of an `ibnetdiscover` file.

use darkfiber_fabric::{Guid, LinkClass};

use crate::records::{Key, NodeKind};

impl<'a> Key<'a> {
    pub(super) fn new(id: &'a str) -> Self {
        let kind = match id.as_bytes() {
            [b'S' | b's', b'-', ..] => NodeKind::Switch,
            [b'H' | b'h', b'-', ..] => NodeKind::Adapter,
            [b'R' | b'r', b'-', ..] => NodeKind::Router,
            _ => return Self::Name(id),
        };
        let mut digits = Cursor(&id[2..]);
        match digits.hex() {
            // GUID 0 is no GUID: it does not identify such nodes.
            Some(guid) if guid != 0 && digits.0.is_empty() => Self::Guid(kind, Guid(guid)),
            _ => Self::Name(id),
        }
    }
}

/// A `Switch`, `Ca` or `Rt` line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NodeLine<'a> {
    pub(super) kind: NodeKind,
    pub(super) ports: u32,
    pub(super) id: &'a str,
    /// Text of the comment; `None`: the line has no comment.
    pub(super) description: Option<&'a str>,
    pub(super) enhanced_port0: bool,
    pub(super) lid: Option<u32>,
    /// The closing quote of the description is missing.
    pub(super) cut: bool,
}

/// A line of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PortLine<'a> {
    pub(super) port: u32,
    /// GUID of this port; only adapters have it.
    pub(super) guid: Option<Guid>,
    pub(super) far: &'a str,
    pub(super) far_port: u32,
    pub(super) far_guid: Option<Guid>,
    pub(super) far_description: Option<&'a str>,
    /// LID and LMC of this port; only adapters have them.
    pub(super) lid: Option<u32>,
    pub(super) lmc: Option<u32>,
    pub(super) far_lid: Option<u32>,
    /// Label of the speed, such as `4xHDR`.
    pub(super) label: Option<&'a str>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Header {
    Vendor,
    Device,
    System,
    /// One of `switchguid`, `caguid`, `rtguid`.
    Node,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Line<'a> {
    /// Blank lines, comments, headings.
    Nothing,
    /// The value, and another behind it in parentheses.
    Header(Header, u64, Option<u64>),
    Node(NodeLine<'a>),
    Port(PortLine<'a>),
    /// A message of the tool itself.
    Message,
    /// `include`, `do`, `module` of ibsim.
    Directive,
    /// It starts like a line of this format, then goes wrong.
    Damaged,
    /// Any other line.
    Other,
}

/// Parses a line to its kind.
pub(super) fn parse(line: &str) -> Line<'_> {
    let line = line.trim();
    let mut cursor = Cursor(line);
    match line.as_bytes() {
        [] | [b'#', ..] => Line::Nothing,
        // A shell prompt may start with a bracket, but not with a number in it.
        [b'[', b'0'..=b'9', ..] => cursor.port_line().map_or(Line::Damaged, Line::Port),
        [b'a'..=b'z', ..] if line.as_bytes()[..line.len().min(12)].contains(&b'=') => header(line),
        _ => match cursor.keyword() {
            Some(kind) => cursor.node_line(kind).map_or(Line::Damaged, Line::Node),
            None => other(line),
        },
    }
}

fn header(line: &str) -> Line<'_> {
    let Some((key, value)) = line.split_once('=') else {
        return Line::Other;
    };
    let header = match key.trim_end() {
        "vendid" => Header::Vendor,
        "devid" => Header::Device,
        "sysimgguid" => Header::System,
        "switchguid" | "caguid" | "rtguid" => Header::Node,
        "module" => return Line::Directive,
        _ => return Line::Other,
    };
    let mut rest = Cursor(value.trim_start());
    match rest.hex() {
        Some(value) if !rest.0.starts_with(|c: char| c.is_ascii_alphanumeric()) => {
            let second = rest.eat(b'(').and_then(|()| rest.hex());
            Line::Header(header, value, second)
        }
        _ => Line::Damaged,
    }
}

/// Prefixes of the messages of the tools and their libraries.
const MESSAGES: &[&str] = &[
    "ibwarn:",
    "ibpanic:",
    "iberror:",
    "ibdebug:",
    "src/",
    "./src/",
    "libibnetdisc",
    "libibmad",
    "libibumad",
    "ibnetdiscover:",
    "mad_rpc",
    "umad_",
];

fn other(line: &str) -> Line<'_> {
    if line.starts_with("Chassis") || line.starts_with("Non-Chassis") {
        return Line::Nothing;
    }
    if line.starts_with("include ") || line.starts_with("do ") || line.starts_with("module ") {
        return Line::Directive;
    }
    // With a terminal or a log in between, other text may precede the message.
    if MESSAGES.iter().any(|m| line.starts_with(m)) || line.contains("ibwarn: [") {
        return Line::Message;
    }
    Line::Other
}

/// The rest of a line.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'a>(pub(super) &'a str);

impl<'a> Cursor<'a> {
    fn blanks(&mut self) {
        self.0 = self.0.trim_start();
    }

    fn eat(&mut self, byte: u8) -> Option<()> {
        self.0 = self.0.strip_prefix(byte as char)?;
        Some(())
    }

    fn take_while(&mut self, ok: impl Fn(u8) -> bool) -> &'a str {
        let n = self.0.bytes().take_while(|&b| ok(b)).count();
        let (head, rest) = self.0.split_at(n);
        self.0 = rest;
        head
    }

    pub(super) fn number(&mut self) -> Option<u32> {
        self.take_while(|b| b.is_ascii_digit()).parse().ok()
    }

    /// One to sixteen hexadecimal digits, with or without `0x`.
    pub(super) fn hex(&mut self) -> Option<u64> {
        if let Some(rest) = self.0.strip_prefix("0x").or(self.0.strip_prefix("0X")) {
            self.0 = rest;
        }
        u64::from_str_radix(self.take_while(|b| b.is_ascii_hexdigit()), 16).ok()
    }

    fn quoted(&mut self) -> Option<&'a str> {
        self.eat(b'"')?;
        let (text, rest) = self.0.split_once('"')?;
        self.0 = rest;
        Some(text)
    }

    /// `[7]`, and `[ext 3]` behind it, which `ibnetdiscover -g` adds in a chassis.
    fn port(&mut self) -> Option<u32> {
        self.eat(b'[')?;
        self.blanks();
        let port = self.number()?;
        self.blanks();
        self.eat(b']')?;
        if self.0.starts_with("[ext") {
            let (_, rest) = self.0.split_once(']')?;
            self.0 = rest;
        }
        Some(port)
    }

    /// A GUID such as `(2c903003421b2)`; 0 if something else follows, `None` if it is damaged. ibdiagnet writes the port's label
    /// before it, and on switches alone: `(1/4/2)`, `(B9D0F0/0/0/1)(5c25730300e68fd6)`.
    fn port_guid(&mut self) -> Option<Guid> {
        let mut guid = Guid(0);
        loop {
            self.blanks();
            if self.eat(b'(').is_none() {
                return Some(guid);
            }
            let (text, rest) = self.0.split_once(')')?;
            let mut digits = Cursor(text);
            let value = digits.hex().filter(|_| digits.0.is_empty());
            guid = Guid(value.unwrap_or(0));
            self.0 = rest;
        }
    }

    fn keyword(&mut self) -> Option<NodeKind> {
        let word = self.take_while(|b| b.is_ascii_alphabetic());
        let kind = match word {
            "Switch" => NodeKind::Switch,
            "Ca" | "CA" | "Hca" => NodeKind::Adapter,
            "Rt" => NodeKind::Router,
            _ => return None,
        };
        self.blanks();
        // `Switch` may start a sentence.
        self.0.starts_with(|c: char| c.is_ascii_digit() || c == '"').then_some(kind)
    }

    fn node_line(mut self, kind: NodeKind) -> Option<NodeLine<'a>> {
        let ports = self.number()?;
        self.blanks();
        let id = self.quoted()?;
        self.blanks();
        let mut line = NodeLine {
            kind,
            ports,
            id,
            description: None,
            enhanced_port0: false,
            lid: None,
            cut: false,
        };
        if self.eat(b'#').is_some() {
            let comment = Comment::new(self.0);
            line.description = comment.description;
            line.cut = comment.cut;
            line.enhanced_port0 = comment.after.trim_start().starts_with("enhanced");
            line.lid = numbered(comment.after, "lid");
        }
        Some(line)
    }

    fn port_line(&mut self) -> Option<PortLine<'a>> {
        let port = self.port()?;
        let guid = self.port_guid()?;
        self.blanks();
        let far = self.quoted()?;
        self.blanks();
        let far_port = self.port()?;
        let far_guid = self.port_guid()?;
        self.blanks();
        let mut line = PortLine {
            port,
            guid: Some(guid).filter(|g| g.0 != 0),
            far,
            far_port,
            far_guid: Some(far_guid).filter(|g| g.0 != 0),
            far_description: None,
            lid: None,
            lmc: None,
            far_lid: None,
            label: None,
        };
        if self.eat(b'#').is_some() {
            let comment = Comment::new(self.0);
            line.far_description = comment.description;
            line.lid = numbered(comment.before, "lid");
            line.lmc = numbered(comment.before, "lmc");
            line.far_lid = numbered(comment.after, "lid");
            line.label = comment.after.split_whitespace().find(|w| is_label(w));
        }
        Some(line)
    }
}

/// `4xHDR`, `4x???`: a width, `x` and something; or `aries-nic@10200000000B/s`, which this crate writes.
fn is_label(word: &str) -> bool {
    if word.contains('@') && LinkClass::of_word(word).is_some() {
        return true;
    }
    let rest = word.trim_start_matches(|c: char| c.is_ascii_digit());
    rest.len() < word.len() && rest.len() > 1 && rest.starts_with('x')
}

/// The number behind a word.
fn numbered(text: &str, word: &str) -> Option<u32> {
    let mut words = text.split_whitespace();
    words.find(|w| *w == word)?;
    words.next()?.parse().ok()
}

/// The text after `#`. A description may hold any character, so it reaches from the first quote of the comment to the
/// last.
struct Comment<'a> {
    before: &'a str,
    description: Option<&'a str>,
    after: &'a str,
    cut: bool,
}

impl<'a> Comment<'a> {
    fn new(text: &'a str) -> Self {
        match (text.find('"'), text.rfind('"')) {
            (Some(first), Some(last)) if first < last => Self {
                before: &text[..first],
                description: Some(&text[first + 1..last]),
                after: &text[last + 1..],
                cut: false,
            },
            (Some(first), _) => Self {
                before: &text[..first],
                description: Some(&text[first + 1..]),
                after: "",
                cut: true,
            },
            _ => Self { before: text, description: None, after: text, cut: false },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn port(text: &str) -> PortLine<'_> {
        match parse(text) {
            Line::Port(p) => p,
            other => panic!("{text}: {other:?}"),
        }
    }

    fn node(text: &str) -> NodeLine<'_> {
        match parse(text) {
            Line::Node(n) => n,
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn separators_may_be_anything_or_nothing() {
        for text in [
            "[1]\t\"H-0c42\"[2](c43) \t\t# \"a b\" lid 7 4xHDR",
            "[1] \"H-0c42\"[2](c43) # \"a b\" lid 7 4xHDR\r",
            "[1]\"H-0c42\"[2](c43)#\"a b\"lid 7 4xHDR",
            "[1][ext 4]\t\"H-0c42\"[2][ext 3](c43) # \"a b\" lid 7 4xHDR s=1 w=2",
        ] {
            let p = port(text);
            assert_eq!((p.port, p.far_port, p.far_lid), (1, 2, Some(7)), "{text}");
            assert_eq!((p.far_guid, p.label), (Some(Guid(0xc43)), Some("4xHDR")));
            assert_eq!(p.far_description, Some("a b"));
        }
        for text in
            ["Switch\t41 \"S-01\" # \"x\"", "Switch41 \"S-01\"#\"x\"", "Switch 41\"S-01\" # \"x\""]
        {
            assert_eq!((node(text).ports, node(text).id), (41, "S-01"), "{text}");
        }
    }

    #[test]
    fn descriptions_hold_any_character() {
        let n = node(r#"Switch 8 "S-1" # " a#b;"c" (d) '/ " enhanced port 0 lid 9 lmc 0"#);
        assert_eq!(n.description, Some(r#" a#b;"c" (d) '/ "#));
        assert_eq!((n.enhanced_port0, n.lid), (true, Some(9)));
        let p = port(r#"[1](2)  "S-1"[3] # lid 4 lmc 5 "x # lid 6" lid 7 1xSDR"#);
        assert_eq!((p.lid, p.lmc, p.far_lid, p.label), (Some(4), Some(5), Some(7), Some("1xSDR")));
        assert_eq!(p.far_description, Some("x # lid 6"));
    }

    #[test]
    fn ibdiagnet_labels_ports() {
        for (text, near, far) in [
            ("[1](1/1/1) \"S-fc\"[63]      # \"x\" lid 13 4xNDR", 0, 0),
            ("[2](1/1/2) \"H-5c\"[1](5c)   # \"x\" lid 13 4xNDR", 0, 0x5c),
            ("[1](B9D0F0/0/0/1)(5c25) \"S-b0\"[63] # lid 3 lmc 0 \"x\" lid 13 4xNDR", 0x5c25, 0),
            ("[1](1)(b0cf) \"S-b0\"[63] # lid 3 lmc 0 \"x\" lid 13 4xNDR", 0xb0cf, 0),
            ("[1](222host2) \"S-b0\"[63] # lid 3 lmc 0 \"x\" lid 13 4xNDR", 0, 0),
        ] {
            let p = port(text);
            let guids = [p.guid, p.far_guid].map(|g| g.unwrap_or_default().0);
            assert_eq!(
                (guids, p.far_lid, p.label),
                ([near, far], Some(13), Some("4xNDR")),
                "{text}"
            );
        }
    }

    #[test]
    fn keys_compare_padded_and_unpadded_guids() {
        assert_eq!(Key::new("S-0c42"), Key::new("S-00000c42"));
        assert_ne!(Key::new("S-0c42"), Key::new("H-0c42"));
        for odd in ["Switch1", "S-", "S-xyz", "H-0", "", "S-11112222333344445"] {
            assert_eq!(Key::new(odd), Key::Name(odd));
        }
    }

    #[test]
    fn other_lines() {
        assert_eq!(parse("Switch is down"), Line::Other);
        assert_eq!(parse("[root@node ~]# ibnetdiscover"), Line::Other);
        assert_eq!(parse("Chassis 1 (guid 0x8f1)"), Line::Nothing);
        assert_eq!(parse("ibwarn: [123] mad_rpc: x"), Line::Message);
        assert_eq!(parse("switchguid=0x5(5)\t# Spine 1"), Line::Header(Header::Node, 5, Some(5)));
        assert_eq!(parse("sysimgguid=0x7f"), Line::Header(Header::System, 0x7f, None));
        for damaged in [
            "[1",
            "[1]\t\"S-12",
            "Switch\t4",
            "Ca 1 \"H",
            "caguid=",
            "[99999999999] \"S-1\"[1]",
            "caguid=0x22host2",
            "[1](c4",
        ] {
            assert_eq!(parse(damaged), Line::Damaged, "{damaged}");
        }
    }
}
