//! Lists of components that users choose by name.

use std::ops::Deref;

use thiserror::Error;

use crate::nearest;

/// A component that users choose by name: an engine, a family, a congestion control, ...
pub trait Entry {
    /// The name that users write.
    fn name(&self) -> &str;

    /// Alternative names of the component.
    fn aliases(&self) -> &[&str] {
        &[]
    }
}

impl<T> Entry for (&'static str, T) {
    fn name(&self) -> &str {
        self.0
    }
}

/// Makes a type a component whose name is its field `name`; with `eq`, components of the same name are equal (for those that
/// hold functions, which cannot be compared).
///
/// ```
/// struct Unit {
///     name: &'static str,
/// }
/// darkfiber_fabric::named!(Unit);
/// ```
#[macro_export]
macro_rules! named {
    ($type:ty) => {
        impl $crate::Entry for $type {
            fn name(&self) -> &str {
                self.name
            }
        }
    };
    ($type:ty, eq) => {
        $crate::named!($type);

        impl PartialEq for $type {
            fn eq(&self, other: &Self) -> bool {
                self.name == other.name
            }
        }

        impl Eq for $type {}
    };
}

/// All components of one kind, in the order in which they are listed. A component is added by one line in its registry;
/// help, lists, completion and error messages follow.
///
/// ```
/// use darkfiber_fabric::Registry;
///
/// static UNITS: Registry<(&str, u64)> = Registry::new("unit", &[("byte", 1), ("kilobyte", 1000)]);
/// assert_eq!(UNITS.get("byte")?.1, 1);
/// let unknown = UNITS.get("kilobite").expect_err("nobody calls a unit so");
/// assert_eq!(unknown.to_string(), "no unit is called 'kilobite'");
/// assert_eq!(unknown.hint(), "did you mean kilobyte?");
/// # Ok::<(), darkfiber_fabric::Unknown>(())
/// ```
#[derive(Debug)]
pub struct Registry<T: 'static> {
    kind: &'static str,
    entries: &'static [T],
}

impl<T> Registry<T> {
    /// A registry of these components; `kind` is the word for one of them in messages (`engine`).
    pub const fn new(kind: &'static str, entries: &'static [T]) -> Self {
        Self { kind, entries }
    }

    /// The word for one component in messages.
    pub fn kind(&self) -> &'static str {
        self.kind
    }

    /// The components, for constants that need one of them; otherwise a registry is used like a slice.
    pub const fn entries(&self) -> &'static [T] {
        self.entries
    }
}

impl<T: Entry> Registry<T> {
    /// The component of that name or alias.
    ///
    /// # Errors
    /// [`Unknown`], with the names that are close, if there is none.
    pub fn get(&self, name: &str) -> Result<&'static T, Unknown> {
        let is_called = |entry: &&T| entry.name() == name || entry.aliases().contains(&name);
        self.entries
            .iter()
            .find(is_called)
            .ok_or_else(|| Unknown::new(self.kind, name, self.names()))
    }

    /// The names of all components, in the order of the list.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.entries.iter().map(Entry::name)
    }
}

impl<T> Deref for Registry<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        self.entries
    }
}

impl<T> IntoIterator for &Registry<T> {
    type Item = &'static T;
    type IntoIter = std::slice::Iter<'static, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.entries.iter()
    }
}

/// A name that no component of a kind has.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("no {kind} is called '{name}'")]
pub struct Unknown {
    /// Kind of the component, such as `engine`.
    pub kind: String,
    /// Name that was not found.
    pub name: String,
    /// Names that are close to it, closest first; may be empty.
    pub nearest: Vec<String>,
    /// All names, in the order of the list.
    known: Vec<String>,
}

impl Unknown {
    /// The error for a name that is not among `known`.
    pub fn new<'a>(kind: &str, name: &str, known: impl IntoIterator<Item = &'a str>) -> Self {
        let known: Vec<&str> = known.into_iter().collect();
        let owned = |names: &[&str]| names.iter().map(|&n| n.to_owned()).collect();
        Self {
            kind: kind.to_owned(),
            name: name.to_owned(),
            nearest: owned(&nearest(name, known.iter().copied())),
            known: owned(&known),
        }
    }

    /// A hint for the user: the close names, or all where none is close.
    pub fn hint(&self) -> String {
        match self.nearest.as_slice() {
            [] if self.known.is_empty() => format!("there is no {} here", self.kind),
            [] => format!("there are {}", self.known.join(", ")),
            [one] => format!("did you mean {one}?"),
            many => format!("did you mean one of {}?", many.join(", ")),
        }
    }
}
