//! GUIDs as tools write them: in hexadecimal digits behind a prefix, in groups with colons, at the end of a GID or of an address of
//! IP over InfiniBand.

use std::net::Ipv6Addr;

use darkfiber_fabric::Guid;

use crate::guids::parse_hex;

/// Letters that stand before a GUID: those of `ibnetdiscover`, and those of `ibdm` without a hyphen.
const PREFIXES: [&str; 6] = ["0x", "0X", "S-", "H-", "R-", "N-"];
const LETTERS: [char; 3] = ['S', 'H', 'N'];
/// Digits of a GUID.
const DIGITS: usize = 16;

/// A word that is a GUID, as far as its form tells.
pub(crate) struct GuidWord<'a> {
    /// The GUID.
    pub(crate) guid: Guid,
    /// Whether all of its digits are there: such a word is hardly anything else.
    pub(crate) is_whole: bool,
    form: Form<'a>,
}

enum Form<'a> {
    /// Hexadecimal digits behind a prefix; padded, if they are all there.
    Digits { before: &'a str },
    /// Four groups of four digits.
    Groups,
    /// Bytes with colons, behind others.
    Bytes { before: &'a str },
    /// The last half of an address.
    Gid { prefix: u128 },
}

impl<'a> GuidWord<'a> {
    /// Reads a word; `None` if it has no such form.
    pub(crate) fn parse(word: &'a str) -> Option<Self> {
        Self::groups(word)
            .or_else(|| Self::bytes(word))
            .or_else(|| Self::gid(word))
            .or_else(|| Self::digits(word))
    }

    fn digits(word: &'a str) -> Option<Self> {
        let prefixed = PREFIXES.iter().find_map(|prefix| word.strip_prefix(prefix));
        let lettered = word.strip_prefix(LETTERS).filter(|digits| digits.len() == DIGITS);
        let digits = prefixed.or(lettered).unwrap_or(word);
        // The prefix of the subnet may stand before it. Shorter numbers are LIDs, ports or counts.
        let digits = match digits.len() {
            len if len == 2 * DIGITS && digits.is_ascii() => &digits[DIGITS..],
            8..=DIGITS => digits,
            _ => return None,
        };
        let guid = Guid(parse_hex(digits)?);
        let before = &word[..word.len() - digits.len()];
        Some(Self { guid, is_whole: digits.len() == DIGITS, form: Form::Digits { before } })
    }

    /// `0002:c903:0004:e938`; zeros in front of groups, and whole groups of them, may be left out.
    fn groups(word: &str) -> Option<Self> {
        let groups: Vec<&str> = word.split(':').collect();
        let is_full = groups.iter().all(|group| group.len() == 4);
        if !(groups.len() == 4 || is_full && (2..4).contains(&groups.len())) {
            return None;
        }
        let short = |group: &&str| (1..=4).contains(&group.len());
        let value = groups.iter().filter(|group| short(group)).map(|group| parse_hex(group));
        let value: Vec<u64> = value.collect::<Option<_>>()?;
        let whole =
            (value.len() == groups.len()).then(|| value.iter().fold(0, |all, v| all << 16 | v))?;
        Some(Self { guid: Guid(whole), is_whole: groups.len() == 4 && is_full, form: Form::Groups })
    }

    /// `80:00:00:48:fe:80:..`: eight bytes, or twenty with the queue pair and the prefix of the subnet before them.
    fn bytes(word: &'a str) -> Option<Self> {
        let count = word.split(':').count();
        if !matches!(count, 8 | 20) || !word.split(':').all(|byte| byte.len() == 2) {
            return None;
        }
        let (before, own) = word.split_at(3 * (count - 8));
        let guid = Guid(parse_hex(&own.replace(':', ""))?);
        Some(Self { guid, is_whole: true, form: Form::Bytes { before } })
    }

    /// `fe80::2:c903:4:e938`, in any form of an IPv6 address.
    fn gid(word: &str) -> Option<Self> {
        let address = word.parse::<Ipv6Addr>().ok()?.to_bits();
        let guid = Guid(address as u64);
        Some(Self { guid, is_whole: true, form: Form::Gid { prefix: address >> 64 << 64 } })
    }

    /// Another GUID in the same form.
    pub(crate) fn with(&self, new: Guid) -> String {
        let digits = format!("{:016x}", new.0);
        let grouped = |by: usize| {
            let all: Vec<&str> = (0..DIGITS).step_by(by).map(|at| &digits[at..at + by]).collect();
            all.join(":")
        };
        match self.form {
            Form::Digits { before } if self.is_whole => format!("{before}{digits}"),
            Form::Digits { before } => format!("{before}{:x}", new.0),
            Form::Groups => grouped(4),
            Form::Bytes { before } => format!("{before}{}", grouped(2)),
            Form::Gid { prefix } => Ipv6Addr::from_bits(prefix | u128::from(new.0)).to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_is_read_and_written() {
        let (old, new) = (0x0002_c903_004e_9381, 0x9002_c903_004e_9382);
        for (word, expected) in [
            ("0x0002c903004e9381", "0x9002c903004e9382"),
            ("0X2c903004e9381", "0X9002c903004e9382"),
            ("S-0002c903004e9381", "S-9002c903004e9382"),
            ("N0002c903004e9381", "N9002c903004e9382"),
            ("0xfe800000000000000002c903004e9381", "0xfe800000000000009002c903004e9382"),
            ("0002:c903:004e:9381", "9002:c903:004e:9382"),
            ("2:c903:4e:9381", "9002:c903:004e:9382"),
            ("00:02:c9:03:00:4e:93:81", "90:02:c9:03:00:4e:93:82"),
            (
                "80:00:00:48:fe:80:00:00:00:00:00:00:00:02:c9:03:00:4e:93:81",
                "80:00:00:48:fe:80:00:00:00:00:00:00:90:02:c9:03:00:4e:93:82",
            ),
            ("fe80::2:c903:4e:9381", "fe80::9002:c903:4e:9382"),
            ("FE80:0:0:0:0002:C903:004E:9381", "fe80::9002:c903:4e:9382"),
        ] {
            let found = GuidWord::parse(word).unwrap_or_else(|| panic!("{word}"));
            assert_eq!(found.guid, Guid(old), "{word}");
            assert_eq!(found.with(Guid(new)), expected, "{word}");
        }
        for word in [
            "",
            "12",
            "0x12",
            "cn1",
            "12:34:56",
            "0x0002c903004e93811",
            "g002c903004e9381",
            "S0002",
            "::",
            "1:2:3",
        ] {
            assert!(GuidWord::parse(word).is_none_or(|found| found.guid == Guid(0)), "{word}");
        }
    }
}
