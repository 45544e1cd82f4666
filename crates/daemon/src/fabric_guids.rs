//! Whether a fabric that was read is the known one: by the GUIDs of its switches and adapters, which are stored next to the
//! journal.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use darkfiber_fabric::Fabric;
use darkfiber_formats::output;
use darkfiber_operate::Digest;

/// A fabric with at most this share of the known GUIDs, of which at most this share is known, is another one.
const FEW: f64 = 0.1;

/// The GUIDs of the known fabric.
#[derive(Clone)]
pub(crate) struct KnownGuids {
    path: PathBuf,
    known: Arc<Mutex<BTreeSet<u64>>>,
    /// The digest of a fabric that an operator has confirmed to be this one.
    allowed: Arc<AtomicU64>,
}

/// Number of GUIDs that two fabrics share, which is too small.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TooFewSharedGuids {
    pub(crate) shared: u32,
    pub(crate) known: u32,
}

impl KnownGuids {
    /// Reads the GUIDs of a state folder; none, if it is new.
    pub(crate) fn open(state: &Path) -> Result<Self, String> {
        let path = state.join("guids");
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(e) if e.kind() == io::ErrorKind::NotFound => String::new(),
            Err(e) => return Err(format!("{}: {e}", path.display())),
        };
        let guid = |line: &str| u64::from_str_radix(line.strip_prefix("0x")?, 16).ok();
        let mut known = BTreeSet::new();
        for (line, number) in text.lines().zip(1..) {
            let guid = guid(line).ok_or_else(|| {
                format!(
                    "{}: line {number}: expected a GUID such as 0x0002c903000a1b2c",
                    path.display()
                )
            })?;
            known.insert(guid);
        }
        let (known, allowed) = (Arc::new(Mutex::new(known)), Arc::default());
        Ok(Self { path, known, allowed })
    }

    /// Accepts a fabric as the known one, unless it is too different.
    pub(crate) fn meet(&self, fabric: &Fabric, digest: Digest) -> Result<(), TooFewSharedGuids> {
        let guids = guids(fabric);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let shared = known.intersection(&guids).count();
        let few = |of: usize| shared as f64 <= FEW * of as f64;
        let is_allowed = self.allowed.load(Ordering::SeqCst) == digest.0;
        if !known.is_empty() && few(known.len()) && few(guids.len()) && !is_allowed {
            return Err(TooFewSharedGuids { shared: shared as u32, known: known.len() as u32 });
        }
        if *known != guids {
            let mut text = String::new();
            for guid in &guids {
                let _infallible = writeln!(text, "{guid:#018x}");
            }
            // If it cannot be stored, the next start uses the previous fabric.
            let _it_may_be_older =
                output::replace_as_is(&self.path, |out| out.write_all(text.as_bytes()));
            *known = guids;
        }
        Ok(())
    }

    /// An operator confirms that a fabric is this one.
    pub(crate) fn allow(&self, digest: Digest) {
        self.allowed.store(digest.0, Ordering::SeqCst);
    }
}

fn guids(fabric: &Fabric) -> BTreeSet<u64> {
    let switches = fabric.switches().iter().map(|s| s.guid.0);
    switches.chain(fabric.terminals().iter().map(|t| t.guid.0)).collect()
}
