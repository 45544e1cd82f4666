//! A scenario file and the line numbers of its errors.

use std::fmt::Write as _;
use std::path::Path;

use darkfiber_formats::format::Reading;
use darkfiber_formats::{detect, input};

use crate::lines::Lines;
use crate::value::HINT;
use crate::{Case, Error, Files, Folder, Listener, Scenario};

/// Reference to the description of the keys.
const KEYS: &str = "`darkfiber help scenario` has all keys";

/// A scenario from a file, whose lines errors name.
#[derive(Clone, Debug)]
pub struct ScenarioFile {
    /// Content of the file. It may be changed before it is resolved: the seed, the depth.
    pub scenario: Scenario,
    /// Name of the file in errors.
    pub name: String,
    lines: Lines,
}

impl ScenarioFile {
    /// Parses the text of a file.
    ///
    /// # Errors
    /// If it is not a scenario: with the name of the file, the line, what was expected and what to do.
    pub fn parse(text: &str, name: &str) -> Result<Self, Error> {
        Self::variant(text, text, name)
    }

    /// Reads a text that was made of the text of a file by setting some of its keys: errors name lines of the file, or say that a value
    /// was set.
    ///
    /// # Errors
    /// As [`ScenarioFile::parse`].
    pub fn variant(text: &str, original: &str, name: &str) -> Result<Self, Error> {
        let lines = Lines::of_original(original, text);
        match toml::from_str::<Scenario>(text) {
            Ok(scenario) => {
                let file = Self { scenario, name: name.to_owned(), lines };
                file.scenario.check().map_err(|error| file.located(error))?;
                Ok(file)
            }
            Err(error) => Err(fabric_instead(original, name)
                .unwrap_or_else(|| not_a_scenario(&error, name, &Lines::of(text), &lines))),
        }
    }

    /// Reads a file.
    ///
    /// # Errors
    /// As [`ScenarioFile::parse`], and if it cannot be read.
    pub fn read(path: &Path) -> Result<Self, Error> {
        Self::parse(&input::read_text(path)?, &path.display().to_string())
    }

    /// Finds and makes all that the scenario names: see [`Scenario::resolve`].
    ///
    /// # Errors
    /// With the name of the file, and the line that an error is about.
    pub fn resolve(&self, files: &dyn Files, listener: &mut dyn Listener) -> Result<Case, Error> {
        let loaded = self.scenario.fabric(files, listener).map_err(|error| self.located(error))?;
        self.resolve_on(loaded, files, listener)
    }

    /// As [`resolve`](Self::resolve), on the fabric that it names, which was [loaded](Scenario::fabric) before.
    ///
    /// # Errors
    /// As that.
    pub fn resolve_on(
        &self,
        loaded: std::sync::Arc<crate::Loaded>,
        files: &dyn Files,
        listener: &mut dyn Listener,
    ) -> Result<Case, Error> {
        let case = self.scenario.resolve_on(loaded, files, listener);
        let mut case = case.map_err(|error| self.located(error))?;
        if self.scenario.title.is_none() {
            let stem = Path::new(&self.name).file_stem().unwrap_or_default();
            case.title = stem.to_string_lossy().into_owned();
        }
        Ok(case)
    }

    /// An error about this scenario, with the name of the file and the line.
    #[must_use]
    pub fn located(&self, error: Error) -> Error {
        Self::at_line(&self.lines, &self.name, error)
    }

    /// An error about keys of a text, with the name of the file and the line.
    #[must_use]
    pub fn locate(text: &str, name: &str, error: Error) -> Error {
        Self::at_line(&Lines::of(text), name, error)
    }

    fn at_line(lines: &Lines, name: &str, error: Error) -> Error {
        // A scenario made from options has no file, and its keys are not the user's.
        if name.is_empty() {
            return Error { at: Vec::new(), ..error };
        }
        let at = lines.place(&error.at);
        let message = format!("{name}: {at}{error}");
        // An error in a scenario is an error of its file, not of the command line.
        let kind = match error.kind {
            crate::ErrorKind::Usage => crate::ErrorKind::Input,
            other => other,
        };
        Error { kind, at: Vec::new(), message, hint: error.hint }
    }
}

/// The error for a fabric file where a scenario is wanted.
pub fn fabric_instead(text: &str, name: &str) -> Option<Error> {
    let path = Path::new(name);
    let is_toml = path.extension().is_some_and(|end| end.eq_ignore_ascii_case("toml"));
    let form = detect(text, path).filter(|_| !is_toml)?;
    let Reading::Fabric(_) = form.read else { return None };
    let hint = format!("a scenario names it: fabric = \"{name}\"; {KEYS}");
    Some(Error::input(format!("{name}: this is {}, and no scenario", form.what)).hint(hint))
}

/// Why a text is no scenario. Its keys are looked up in `lines`, and named by the lines of the file that it was made of.
fn not_a_scenario(error: &toml::de::Error, name: &str, lines: &Lines, original: &Lines) -> Error {
    let message = error.message().trim();
    // A missing key has no line.
    let missing = message.strip_prefix("missing field `").and_then(|m| m.strip_suffix('`'));
    if let Some(key @ ("job" | "fabric" | "routes")) = missing {
        let key = if key == "job" { "[[job]]" } else { key };
        return Error::input(format!("{name}: there is no {key}")).hint(KEYS);
    }
    let (message, hint) = message.split_once(HINT).unwrap_or((message, KEYS));
    let mut message = message.to_owned();
    for (kind, plain) in [
        ("usize", "a whole number"),
        ("i64", "a whole number"),
        ("u64", "a whole number"),
        ("u32", "a whole number"),
        ("u8", "a whole number"),
        ("f64", "a number"),
    ] {
        message = message.replace(&format!("expected {kind}"), &format!("expected {plain}"));
    }
    let mut text = format!("{name}: ");
    let mut hint = hint;
    if let Some(span) = error.span() {
        let key = lines.key_at(span.start);
        match key.filter(|_| lines != original) {
            Some(key) => text.push_str(&original.place(key)),
            None => {
                let _infallible = write!(text, "line {}: ", lines.number(span.start));
            }
        }
        if let Some(key) = key {
            text.push_str(&key.join(": "));
            // `nodes 0 must be at least 1`, but `fabric: invalid type`.
            let is_value =
                message.starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '"');
            text.push_str(if is_value { " " } else { ": " });
            // Such a message needs no addition.
            if is_value && hint == KEYS {
                hint = "";
            }
        }
    }
    Error::input(text + &message).hint(hint)
}

impl Folder {
    /// Reads and resolves a scenario file whose other files are in the same folder.
    ///
    /// # Errors
    /// As [`ScenarioFile::read`] and [`ScenarioFile::resolve`].
    pub fn case(file: &Path) -> Result<Case, Error> {
        ScenarioFile::read(file)?.resolve(&Self::of(file), &mut ())
    }
}
