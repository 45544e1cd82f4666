//! The JSON Schema of scenarios, as it was made from their types.

use serde_json::Value;

/// Without blanks. Made anew in every program that asks for it, it would be a hundredth of that program.
const SCHEMA: &str = include_str!("../assets/scenario.json");

/// The schema of a scenario file (draft 2020-12): its keys with their meanings, defaults and kinds of values.
pub fn schema() -> Value {
    // A test holds it to what the types say.
    serde_json::from_str(SCHEMA).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use schemars::generate::SchemaSettings;

    use super::*;

    /// After a change that is meant: `DARKFIBER_UPDATE_DOCS=1 cargo test -p darkfiber-scenario schema`.
    #[test]
    fn it_is_that_of_the_types() {
        let generator = SchemaSettings::draft2020_12().into_generator();
        let mut schema = generator.into_root_schema_for::<crate::Scenario>();
        schema.insert("title".to_owned(), "scenario".into());
        let made = serde_json::to_string(&schema).expect("JSON") + "\n";
        if std::env::var_os("DARKFIBER_UPDATE_DOCS").is_some() {
            let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/scenario.json");
            std::fs::write(file, &made).expect("written");
        } else {
            assert!(SCHEMA == made, "DARKFIBER_UPDATE_DOCS=1 rewrites assets/scenario.json");
        }
    }
}
