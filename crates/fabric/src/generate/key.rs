//! Keys of specs.

/// A key of a spec.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    /// Name of the key.
    pub name: &'static str,
    /// Meaning of its value.
    pub meaning: &'static str,
    /// Default value, or how it is computed. `None`: required.
    pub default: Option<&'static str>,
}

impl Key {
    /// A key that a spec must have.
    pub const fn required(name: &'static str, meaning: &'static str) -> Self {
        Self { name, meaning, default: None }
    }

    /// A key that a spec may have.
    pub const fn optional(
        name: &'static str,
        meaning: &'static str,
        default: &'static str,
    ) -> Self {
        Self { name, meaning, default: Some(default) }
    }
}

/// Keys that every family has besides its own.
pub const COMMON_KEYS: &[Key] = &[
    Key::optional("link", "InfiniBand width and speed of all cables, e.g. 4xHDR", "the family's"),
    Key::optional("gbps", "data rate of all cables in Gbit/s, instead of link", "the family's"),
    Key::optional("host_link", "width and speed of the hosts' cables, if they differ", "as link"),
    Key::optional(
        "host_gbps",
        "data rate of the hosts' cables in Gbit/s, instead of host_link",
        "as gbps",
    ),
    Key::optional("hosts", "number of hosts; the last places stay empty", "all places"),
    Key::optional("planes", "copies of the switch network; every host is in each of them", "1"),
    Key::optional("radix", "ports that a switch has", "the most that any switch uses"),
];
