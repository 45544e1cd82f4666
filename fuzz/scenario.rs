//! What the fuzz target for scenarios does with its input: shared with the test that replays its corpus, so that both do the same.

use std::path::{Component, Path, PathBuf};
use std::sync::LazyLock;

use darkfiber_scenario::{Case, Depth, ErrorKind, Files, Memory, ScenarioFile};

/// The files beside all scenarios, in a temporary directory that no name leads out of.
struct Beside(Memory);

impl Files for Beside {
    fn locate(&self, name: &str) -> PathBuf {
        let inside = Path::new(name).components().filter(|c| matches!(c, Component::Normal(_)));
        self.0.locate(&inside.collect::<PathBuf>().to_string_lossy())
    }
}

static BESIDE: LazyLock<Beside> = LazyLock::new(|| {
    let fabric = "a b\nb c\nc a\nhost h1 a\nhost h2 a\nhost h3 b\nhost h4 c\n";
    let goal = "num_ranks 2\nrank 0 {\nl1: send 8b to 1\n}\nrank 1 {\nl1: recv 8b from 0\n}\n";
    let files = [
        ("f.edges", fabric),
        ("names", "x h1\ny h4\n"),
        ("map", "0x1 \"spine\"\n"),
        ("send.goal", goal),
        ("failed", "a[1]\n"),
    ];
    let files = files.into_iter().map(|(name, text)| (name, text.as_bytes()));
    Beside(Memory::new(files).expect("a temporary directory"))
});

/// Whether all that the scenario asks for is small, and nothing is read but the files beside it.
fn is_small(text: &str, file: &ScenarioFile) -> bool {
    let scenario = &file.scenario;
    // Fabrics and jobs of millions are legal and take their time.
    let few = |n: u64| n <= 24;
    let mut specs = [&scenario.fabric]
        .into_iter()
        .chain(scenario.jobs.iter().filter_map(|j| j.traffic.as_ref()));
    let is_plain = |spec: &String| {
        spec.len() <= 80
            && spec
                .split(|c: char| !c.is_ascii_digit())
                .filter(|n| !n.is_empty())
                .all(|n| n.parse().is_ok_and(few))
    };
    let mut words = scenario.fail.iter().chain([&scenario.fabric]);
    text.len() <= 4096
        && !scenario.fabric.starts_with('@')
        && specs.all(is_plain)
        && words.all(|word| word != "-" && !Path::new(word).exists())
        && scenario.jobs.len() <= 8
        && scenario.jobs.iter().all(|job| {
            job.count.is_none_or(|n| few(n.0))
                && job.per_node.is_none_or(|n| few(n.0))
                && job.hosts.as_ref().is_none_or(|hosts| hosts.len() <= 80)
        })
}

/// A scenario is refused with file and line, or written and read back as the same; what it names is found, or refused with file
/// and line; what was found can be counted.
pub(crate) fn scenario(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let mut file = match ScenarioFile::parse(&text, "fuzz") {
        Ok(file) => file,
        Err(error) => {
            let why = error.to_string();
            assert_eq!(error.kind, ErrorKind::Input, "{why}");
            // What is missing is missing on no line.
            assert!(
                why.starts_with("fuzz: line ") || why.starts_with("fuzz: there is no "),
                "{why}"
            );
            return;
        }
    };
    let written = toml::to_string(&file.scenario).expect("what was read can be written");
    let again = ScenarioFile::parse(&written, "again").unwrap_or_else(|e| panic!("{e}\n{written}"));
    assert_eq!(again.scenario, file.scenario, "{written}");
    if !is_small(&text, &file) {
        return;
    }
    file.scenario.depth = Depth::Count;
    match file.resolve(&*BESIDE, &mut ()) {
        Ok(case) => count(&case),
        Err(error) => {
            let why = error.to_string();
            assert_ne!(error.kind, ErrorKind::Usage, "{why}");
            assert!(why.starts_with("fuzz: line "), "{why}");
        }
    }
}

/// Counts what jobs send.
fn count(case: &Case) {
    let carried = case.run(None, &mut |_| ()).map(|run| run.carried);
    assert!(
        carried.is_err()
            || carried.is_ok_and(|c| c.len() == case.loaded.topology.fabric.channel_count())
    );
}
