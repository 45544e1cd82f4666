//! JSON Schemas of the results, made from their types.

use darkfiber_scenario::Scenario;
use darkfiber_study::grid::StudyKeys;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};

use crate::blast::BlastResult;
use crate::compare::CompareResult;
use crate::congest::CongestResult;
use crate::curve::LoadResult;
use crate::difference::DiffResult;
use crate::doctor::DoctorResult;
use crate::ease::EaseResult;
use crate::ecmp::EcmpResult;
use crate::estimate::EstimateResult;
use crate::explain::ExplainResult;
use crate::fabric::FabricResult;
use crate::framing::FramingResult;
use crate::hot::HotResult;
use crate::measure::MeasureOutcome;
use crate::model::{Comparison, Listed, Single};
use crate::nccl::NcclResult;
use crate::optimise::OptimiseResult;
use crate::place::PlaceResult;
use crate::rails::RailsResult;
use crate::rehearsal::RehearsalResult;
use crate::replay::ReplayResult;
use crate::reproduce::{ReproduceAll, ReproduceOne};
use crate::reroute::RerouteResult;
use crate::review::ReviewResult;
use crate::sharing::SharingResult;
use crate::simulate::SimulateResult;
use crate::study::StudyResult;
use crate::survive::SurviveResult;
use crate::sweep::Sweep;
use crate::transition::TransitionResult;

/// The kinds of results that `--format json` prints, by name, each with its JSON Schema (draft 2020-12), and those of
/// files that users write.
/// `docs/schema/NAME.json` holds a copy.
///
/// Results get new keys from time to time, so the schemas do not forbid unknown ones.
pub fn all() -> Vec<(&'static str, Schema)> {
    vec![
        of::<FabricResult>("fabric"),
        of::<Single<'_>>("route"),
        of::<Comparison<'_>>("comparison"),
        of::<Single<'_, MeasureOutcome>>("measure"),
        of::<Comparison<'_, MeasureOutcome>>("measure-comparison"),
        of::<OptimiseResult<'_>>("optimise"),
        of::<ReproduceOne<'_>>("reproduce"),
        of::<ReproduceAll<'_>>("reproduce-all"),
        of::<Sweep<'_>>("sweep"),
        of::<StudyResult<'_>>("study"),
        of::<EaseResult<'_>>("ease"),
        of::<RerouteResult>("reroute"),
        of::<SurviveResult<'_>>("survive"),
        of::<BlastResult<'_>>("blast"),
        of::<TransitionResult<'_>>("transition"),
        of::<ReplayResult<'_>>("replay"),
        of::<RehearsalResult<'_>>("rehearsal"),
        of::<ReviewResult<'_>>("review"),
        of::<SharingResult<'_>>("jobs-report"),
        of::<SimulateResult<'_>>("simulate"),
        of::<EstimateResult<'_>>("estimate"),
        of::<CompareResult<'_>>("simulate-comparison"),
        of::<HotResult<'_>>("hot"),
        of::<EcmpResult<'_>>("ecmp"),
        of::<NcclResult<'_>>("nccl"),
        of::<RailsResult<'_>>("rails"),
        of::<PlaceResult<'_>>("place"),
        of::<ExplainResult<'_>>("explain"),
        of::<LoadResult<'_>>("load"),
        of::<DiffResult>("diff"),
        of::<DoctorResult>("doctor"),
        of::<FramingResult>("framing"),
        of::<CongestResult<'_>>("congest"),
        ("scenario", scenario()),
        ("study-file", study_file()),
        of::<Listed>("list"),
    ]
}

/// The schema of scenarios.
pub fn scenario() -> Schema {
    input::<Scenario>("scenario")
}

/// The schema of a study file beyond its scenario.
pub fn study_file() -> Schema {
    input::<StudyKeys>("study-file")
}

/// A schema of user input, not of output: unknown keys are refused.
fn input<T: JsonSchema>(name: &'static str) -> Schema {
    let generator = SchemaSettings::draft2020_12().into_generator();
    let mut schema = generator.into_root_schema_for::<T>();
    schema.insert("title".to_owned(), name.into());
    schema
}

fn of<T: JsonSchema>(name: &'static str) -> (&'static str, Schema) {
    let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let mut schema = generator.into_root_schema_for::<T>();
    schema.insert("title".to_owned(), name.into());
    (name, schema)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    /// After a change that is meant: `DARKFIBER_UPDATE_DOCS=1 cargo test -p darkfiber-report schema`.
    #[test]
    fn docs_hold_the_schemas() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema");
        let mut names = Vec::new();
        for (name, schema) in super::all() {
            let made = crate::json::text(&schema);
            let file = folder.join(format!("{name}.json"));
            if std::env::var_os("DARKFIBER_UPDATE_DOCS").is_some() {
                fs::create_dir_all(&folder).expect("a directory");
                fs::write(&file, &made).expect("a file");
            }
            let kept = fs::read_to_string(&file).unwrap_or_default();
            assert!(kept == made, "{name}: DARKFIBER_UPDATE_DOCS=1 rewrites docs/schema");
            names.push(format!("{name}.json"));
        }
        // What a running `operate` says has those of crate `daemon`.
        names.extend(["status.json".to_owned(), "decision.json".to_owned()]);
        names.sort_unstable();
        let entries = fs::read_dir(&folder).expect("a directory");
        let mut files: Vec<String> = entries
            .map(|e| e.expect("an entry").file_name().to_string_lossy().into_owned())
            .collect();
        files.sort_unstable();
        assert_eq!(files, names, "one schema for each kind of result");
    }
}
