//! Axes: keys of a scenario that have a list where a value belongs.

use darkfiber_fabric::Unknown;
use darkfiber_scenario::Error;
use toml_edit::{Array, DocumentMut, InlineTable, Item, TableLike};

use super::keys::{self, KeyKind};
use super::row::Value;
use super::wanted;
use crate::listed;

/// A key, and the values that it takes one after the other.
#[derive(Clone, Debug)]
pub struct Axis {
    /// The key's path: `job`, `1`, `traffic`. Numbers of tables count from 1.
    pub path: Vec<String>,
    /// Values of the axis.
    pub values: Vec<toml_edit::Value>,
}

impl Axis {
    /// The key in dotted form: `job.1.traffic`.
    pub fn name(&self) -> String {
        self.path.join(".")
    }

    /// Its values, as rows have them.
    pub fn texts(&self) -> Vec<String> {
        self.values.iter().map(|value| shown(value).to_string()).collect()
    }

    /// Refuses values, one or a list, that the axis lacks. Where the values of a file were replaced (`is_set`), others that it names are
    /// left out on purpose: only what is close to one that is there is refused.
    ///
    /// # Errors
    /// If a value is not there, with those that are close.
    pub(super) fn require(&self, wanted: &toml::Value, is_set: bool) -> Result<(), Error> {
        let known: Vec<Value> = self.values.iter().map(shown).collect();
        let each = wanted.as_array().map_or(std::slice::from_ref(wanted), Vec::as_slice);
        for one in each.iter().filter(|one| !known.iter().any(|value| wanted::is(value, one))) {
            let name = one.as_str().map_or_else(|| one.to_string(), str::to_owned);
            let known = self.texts();
            let known = known.iter().map(String::as_str);
            let unknown = Unknown::new("value of the axis", &name, known);
            if !is_set || one.is_str() && !unknown.nearest.is_empty() {
                return Err(Error::from(unknown).inside(self.name()));
            }
        }
        Ok(())
    }

    /// Parses `--set KEY=VALUE,..`: a TOML value, a list of them, or words separated by commas, where keys of a spec stay with it.
    ///
    /// # Errors
    /// If there is no such key, or the value is missing.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let no = |what: &str| {
            Error::usage(format!("--set {text}: {what}"))
                .hint("for example --set routes.engine=dfsssp,parx")
        };
        let (key, given) = text.split_once('=').ok_or_else(|| no("there is no = in it"))?;
        let given = given.trim();
        if let Ok(value) = given.parse::<toml_edit::Value>() {
            return Self::of(key, value);
        }
        let path = path(key);
        keys::kind(&path)?;
        let values: Vec<_> = listed(given).iter().map(|word| word_value(word)).collect();
        if values.is_empty() {
            return Err(no("there is no value"));
        }
        Ok(Self { path, values })
    }

    /// A key in dotted form with a value; a list where one value belongs, or a list of lists, has the values of the axis.
    ///
    /// # Errors
    /// If there is no such key, or the list is empty.
    pub fn of(key: &str, value: toml_edit::Value) -> Result<Self, Error> {
        let path = path(key);
        let is_list = keys::kind(&path)? == KeyKind::List;
        let values = match value {
            toml_edit::Value::Array(array) if !is_list || all_lists(&array) => {
                array.iter().map(plain).collect()
            }
            value => vec![value],
        };
        if values.is_empty() {
            let error = Error::usage(format!("--set {}: there is no value", path.join(".")));
            return Err(error.hint("for example --set routes.engine=dfsssp,parx"));
        }
        Ok(Self { path, values })
    }
}

fn path(key: &str) -> Vec<String> {
    key.trim().split('.').map(str::to_owned).collect()
}

/// A value without its surrounding whitespace and comments.
fn plain(value: &toml_edit::Value) -> toml_edit::Value {
    let mut value = value.clone();
    value.decor_mut().clear();
    value
}

/// A word as the number or the yes or no that it is, or as text.
fn word_value(word: &str) -> toml_edit::Value {
    match word.parse::<toml_edit::Value>() {
        Ok(value) if !value.is_array() && !value.is_inline_table() => plain(&value),
        _ => word.into(),
    }
}

fn all_lists(array: &Array) -> bool {
    !array.is_empty() && array.iter().all(toml_edit::Value::is_array)
}

/// All axes of a document, in the order of the file.
///
/// # Errors
/// If an axis has no value.
pub(super) fn axes(document: &DocumentMut) -> Result<Vec<Axis>, Error> {
    let mut found = Vec::new();
    in_table(document.as_table(), &[], &mut found)?;
    Ok(found)
}

fn in_table(table: &dyn TableLike, path: &[String], found: &mut Vec<Axis>) -> Result<(), Error> {
    for (key, item) in table.iter() {
        let mut path = path.to_vec();
        path.push(key.to_owned());
        match item {
            Item::Table(inner) => in_table(inner, &path, found)?,
            Item::ArrayOfTables(tables) => {
                for (number, inner) in (1..).zip(tables.iter()) {
                    let mut path = path.clone();
                    path.push(format!("{number}"));
                    in_table(inner, &path, found)?;
                }
            }
            Item::Value(value) => in_value(value, &path, found)?,
            Item::None => {}
        }
    }
    Ok(())
}

fn in_value(value: &toml_edit::Value, path: &[String], found: &mut Vec<Axis>) -> Result<(), Error> {
    match value {
        toml_edit::Value::InlineTable(inner) => in_table(inner, path, found),
        toml_edit::Value::Array(array) => {
            // An error in the key is reported when the scenario is read.
            let kind = keys::kind(path).unwrap_or(KeyKind::One);
            let is_axis = match kind {
                KeyKind::Tables => {
                    for (number, inner) in (1..).zip(array.iter()) {
                        let mut path = path.to_vec();
                        path.push(format!("{number}"));
                        in_value(inner, &path, found)?;
                    }
                    return Ok(());
                }
                KeyKind::List => all_lists(array),
                KeyKind::One | KeyKind::Table | KeyKind::Open => true,
            };
            if is_axis {
                if array.is_empty() {
                    let at = path.to_vec();
                    let error = Error::input("this axis has no value").hint(
                        "a list is an axis of a study: give it a value, or leave the key out",
                    );
                    return Err(Error { at, ..error });
                }
                let values = array.iter().map(plain).collect();
                found.push(Axis { path: path.to_vec(), values });
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

/// Sets a key to a value; missing tables around it are created.
///
/// # Errors
/// If a part of the path is not a table, or there is no table of that number.
pub(super) fn set(
    document: &mut DocumentMut,
    path: &[String],
    value: &toml_edit::Value,
) -> Result<(), Error> {
    set_in_table(document.as_table_mut(), path, value).map_err(|what| {
        let error = Error::usage(what).hint("numbers of [[job]] and [[class]] count from 1");
        Error { at: path.to_vec(), ..error }
    })
}

fn set_in_table(
    table: &mut dyn TableLike,
    path: &[String],
    value: &toml_edit::Value,
) -> Result<(), String> {
    let (first, rest) = path.split_first().ok_or("there is no key")?;
    if rest.is_empty() {
        table.insert(first, Item::Value(plain(value)));
        return Ok(());
    }
    let inner = table.entry(first).or_insert_with(|| Item::Value(InlineTable::new().into()));
    set_in_item(inner, rest, value)
}

fn set_in_item(item: &mut Item, path: &[String], value: &toml_edit::Value) -> Result<(), String> {
    if let Some(table) = item.as_table_like_mut() {
        return set_in_table(table, path, value);
    }
    let (number, rest) = path.split_first().ok_or("there is no key")?;
    let index = number.parse::<usize>().ok().and_then(|n| n.checked_sub(1));
    let found: Option<&mut dyn TableLike> = match item {
        Item::ArrayOfTables(tables) => {
            index.and_then(|i| tables.get_mut(i)).map(|table| table as &mut dyn TableLike)
        }
        Item::Value(toml_edit::Value::Array(array)) => index
            .and_then(|i| array.get_mut(i))
            .and_then(toml_edit::Value::as_inline_table_mut)
            .map(|table| table as &mut dyn TableLike),
        _ => None,
    };
    let table = found.ok_or_else(|| format!("there is no table {number} here"))?;
    set_in_table(table, rest, value)
}

/// A value of an axis as a value of a row.
pub(super) fn shown(value: &toml_edit::Value) -> Value {
    match value {
        toml_edit::Value::String(text) => Value::Text(text.value().clone()),
        toml_edit::Value::Integer(n) => match u64::try_from(*n.value()) {
            Ok(n) => Value::Whole(n),
            Err(_) => Value::Number(*n.value() as f64),
        },
        toml_edit::Value::Float(x) => Value::Number(*x.value()),
        toml_edit::Value::Boolean(yes) => Value::Yes(*yes.value()),
        other => Value::Text(other.to_string().trim().to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<(String, usize)> {
        let document: DocumentMut = text.parse().expect("TOML");
        let axes = axes(&document).expect("axes");
        axes.iter().map(|a| (a.name(), a.values.len())).collect()
    }

    #[test]
    fn lists_where_values_belong_are_axes() {
        let text = "fabric = [\"a\", \"b\"]\nfail = [\"x\", \"y\"]\n[routes]\nengine = [\"updn\", \"nue\", \"lash\"]\n\
                    [[job]]\ntraffic = \"t\"\n[[job]]\ntraffic = [\"t\", \"u\"]\nfiles = [[\"a\"], [\"b\", \"c\"]]\n\
                    [packets]\nadaptive.bias = [\"1B\", \"2B\"]\n";
        let expected = [
            ("fabric", 2),
            ("routes.engine", 3),
            ("job.2.traffic", 2),
            ("job.2.files", 2),
            ("packets.adaptive.bias", 2),
        ];
        assert_eq!(found(text), expected.map(|(name, n)| (name.to_owned(), n)));
    }

    #[test]
    fn keys_are_set_wherever_they_are() {
        let text = "fabric = [1, 2]\n[[job]]\nnodes = 1\nshort = [{ class = \"a\" }]\n[[job]]\n";
        let mut document: DocumentMut = text.parse().expect("TOML");
        for (path, value) in [
            ("fabric", "\"f\""),
            ("routes.engine", "\"nue\""),
            ("job.2.nodes", "7"),
            ("packets.adaptive.bias", "\"1B\""),
        ] {
            let path: Vec<String> = path.split('.').map(str::to_owned).collect();
            let value: toml_edit::Value = value.parse().expect("a value");
            set(&mut document, &path, &value).expect("set");
        }
        let read: toml::Table = toml::from_str(&document.to_string()).expect("TOML");
        assert_eq!(read["fabric"].as_str(), Some("f"));
        assert_eq!(read["job"][1]["nodes"].as_integer(), Some(7));
        assert_eq!(read["routes"]["engine"].as_str(), Some("nue"));
        assert_eq!(read["packets"]["adaptive"]["bias"].as_str(), Some("1B"));
        let path: Vec<String> = ["job", "3", "nodes"].map(str::to_owned).to_vec();
        assert!(set(&mut document, &path, &1.into()).is_err());
    }

    #[test]
    fn axes_of_the_command_line() {
        let axis = |text: &str| {
            let axis = Axis::parse(text)?;
            Ok::<_, Error>(axis.values.iter().map(shown).collect::<Vec<_>>())
        };
        let text = |t: &str| Value::Text(t.to_owned());
        assert_eq!(axis("routes.engine=dfsssp,nue"), Ok(vec![text("dfsssp"), text("nue")]));
        assert_eq!(axis("fail-links=1,2"), Ok(vec![Value::Whole(1), Value::Whole(2)]));
        assert_eq!(
            axis("fabric=@selene,fattree2:n=2,m=2,r=4"),
            Ok(vec![text("@selene"), text("fattree2:n=2,m=2,r=4")])
        );
        assert_eq!(axis("fail=[\"a\"]"), Ok(vec![text("[\"a\"]")]));
        assert!(axis("fabric=").is_err() && axis("fabric").is_err() && axis("fabrik=1").is_err());
    }
}
