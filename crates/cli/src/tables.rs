//! Forwarding tables that somebody made, and what lies beside them.

use std::path::{Path, PathBuf};

use darkfiber_analysis::{Finding, finding};
use darkfiber_fabric::Fabric;
use darkfiber_formats::{
    Diagnostics, Kind, ReadError, detect, fdbs, guid2lid, input, lft, lid_choice, manifest, netloc,
    path_bits, sl, tables,
};
use darkfiber_routing::check::check;
use darkfiber_routing::{Lids, Routes};

use crate::args::{Common, RoutesFormat, TableArgs};
use crate::failure::Failure;
use crate::load::Loaded;
use crate::{out, save};

/// Forwarding tables in OpenSM's dump directory.
const OPENSM_LFTS: &str = "opensm-lfts.dump";

/// The files that hold routes.
struct Files {
    tables: PathBuf,
    guid2lid: Option<PathBuf>,
    sl: Option<PathBuf>,
    path_bits: Option<PathBuf>,
    lid_choice: Option<PathBuf>,
}

impl Files {
    fn of(args: &TableArgs) -> Result<Self, Failure> {
        let path = &args.routes;
        let given = &args.beside;
        let mut files = Self {
            tables: path.clone(),
            guid2lid: given.guid2lid.clone(),
            sl: given.sl.clone(),
            path_bits: given.path_bits.clone(),
            lid_choice: given.lid_choice.clone(),
        };
        if !path.is_dir() {
            return Ok(files);
        }
        let in_it = |names: &[&str]| -> Result<Option<PathBuf>, ReadError> {
            for name in names {
                if let Some(found) = manifest::find(path, name)? {
                    return Ok(Some(found));
                }
            }
            Ok(None)
        };
        files.tables = in_it(&[save::LFTS, OPENSM_LFTS])?.ok_or_else(|| {
            Failure::input(format!(
                "{}: there is neither {} nor {OPENSM_LFTS} in this directory",
                path.display(),
                save::LFTS
            ))
            .hint(
                "give the table file itself, a directory that `darkfiber route -o` wrote, or OpenSM's dump \
                 directory",
            )
        })?;
        let beside = |file: &mut Option<PathBuf>, names: &[&str]| -> Result<(), ReadError> {
            if file.is_none() {
                *file = in_it(names)?;
            }
            Ok(())
        };
        beside(&mut files.guid2lid, &[save::GUID2LID])?;
        // The rows say all that the list says, and more.
        beside(&mut files.sl, &[save::PATH_SL_ROWS, save::PATH_SL])?;
        beside(&mut files.path_bits, &[save::PATH_BITS])?;
        beside(&mut files.lid_choice, &[save::LID_CHOICE])?;
        Ok(files)
    }
}

/// Tables that somebody made.
pub(crate) struct Read {
    pub(crate) routes: Routes,
    /// The LIDs that they speak of, where they do.
    pub(crate) lids: Option<Lids>,
    /// Whether service levels were given with them; else all routes are taken in lane 0.
    pub(crate) has_levels: bool,
}

impl Read {
    /// Says that lane 0 was assumed for all routes, where that matters: they can deadlock in it.
    pub(crate) fn tell_assumed_lane(&self, fabric: &Fabric, common: &Common) {
        if !self.has_levels && !common.quiet && !check(fabric, &self.routes).deadlock_free() {
            let Finding { message, hint, .. } = finding::of_assumed_lane();
            out::tell(&format!("note: {message}, where they can deadlock; {hint}"));
        }
    }
}

/// Reads the tables that the arguments name, for a fabric that was loaded as `name`.
pub(crate) fn read(
    args: &TableArgs,
    name_of_fabric: &str,
    loaded: &Loaded,
    common: &Common,
) -> Result<Read, Failure> {
    if !args.routes.is_dir() {
        // A file may be of a set that was torn or altered, too.
        let beside = &args.beside;
        let given = [&beside.guid2lid, &beside.sl, &beside.path_bits, &beside.lid_choice];
        for file in given.into_iter().flatten().chain([&args.routes]) {
            manifest::verify_file(file)?;
        }
        return read_files(args, name_of_fabric, loaded, common);
    }
    let set = manifest::verify(&args.routes)?;
    let read = read_files(args, name_of_fabric, loaded, common)?;
    set.still_holds()?;
    if let Some(note) = set.note.as_ref().filter(|_| !common.quiet) {
        out::tell(&format!("{}: note: {note}", args.routes.display()));
    }
    Ok(read)
}

/// Reads tables whose directory, if they are in one, was verified.
fn read_files(
    args: &TableArgs,
    name_of_fabric: &str,
    loaded: &Loaded,
    common: &Common,
) -> Result<Read, Failure> {
    let files = Files::of(args)?;
    let fabric = &loaded.topology.fabric;
    let text = input::read_text(&files.tables)?;
    let path = files.tables.as_path();
    let show = |source: &Path, found: &Diagnostics| {
        out::diagnostics(&source.display().to_string(), found, common);
    };
    let lids = match &files.guid2lid {
        None => None,
        Some(path) => {
            let (ranges, mut found) = guid2lid::read(&input::read_text(path)?, path)?;
            let (lids, more) = guid2lid::to_lids(fabric, &ranges);
            found.0.extend(more.0);
            show(path, &found);
            Some(lids)
        }
    };
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let form = match args.beside.routes_format {
        RoutesFormat::Auto => recognise(&text, path)?,
        given => given,
    };
    let tables = match form {
        RoutesFormat::Netloc => {
            let routes = read_netloc(name_of_fabric, loaded, &text, path, &name, common)?;
            return Ok(Read { routes, lids: None, has_levels: false });
        }
        RoutesFormat::Fdbs => fdbs::read(&text, path),
        RoutesFormat::Lft | RoutesFormat::Auto => lft::read(&text, path),
    };
    let (tables, found) = tables?;
    show(path, &found);
    let (mut routes, found) = tables::to_routes(fabric, &tables, lids.as_ref(), &name, path)?;
    show(path, &found);
    let lids = lids.unwrap_or_else(|| tables::lids_of(fabric, &tables).0);
    if let Some(path) = &files.path_bits {
        let (select, found) = path_bits::read(&input::read_text(path)?, path, fabric, &routes)?;
        show(path, &found);
        routes.set_select(select);
    }
    if let Some(sl_path) = &files.sl {
        let found = sl::read(&input::read_text(sl_path)?, sl_path, fabric, &lids, &mut routes)?;
        show(sl_path, &found);
    }
    if let Some(path) = &files.lid_choice {
        let text = input::read_text(path)?;
        let (choice, found) = lid_choice::read(&text, path, fabric, &lids, routes.paths())?;
        show(path, &found);
        routes.choice = Some(choice);
    }
    Ok(Read { routes, lids: Some(lids), has_levels: files.sl.is_some() })
}

/// What kind of tables a text holds.
fn recognise(text: &str, path: &Path) -> Result<RoutesFormat, Failure> {
    match detect::detect(text, path) {
        Some(Kind::Lft) => Ok(RoutesFormat::Lft),
        Some(Kind::Fdbs) => Ok(RoutesFormat::Fdbs),
        Some(Kind::NetlocPaths) => Ok(RoutesFormat::Netloc),
        other => {
            let what = other.map_or("this is like nothing known".to_owned(), |kind| {
                format!("this looks like {}", kind.describe())
            });
            Err(Failure::input(format!("{}: {what}; expected forwarding tables", path.display()))
                .hint("OpenSM's lfts dump, dump_lfts.sh, ibroute, osm.fdbs or netloc paths"))
        }
    }
}

fn read_netloc(
    name_of_fabric: &str,
    loaded: &Loaded,
    text: &str,
    path: &Path,
    name: &str,
    common: &Common,
) -> Result<Routes, Failure> {
    let nodes = loaded.text.as_deref().unwrap_or_default();
    if loaded.degraded {
        return Err(Failure::usage("netloc paths name cables by number: faults cannot be applied"));
    }
    let fabric_path = Path::new(name_of_fabric);
    let (map, _shown) = netloc::read_map(nodes, fabric_path).map_err(|e: ReadError| {
        Failure::from(e).hint("netloc paths need their nodes file as FABRIC")
    })?;
    let (routes, found) = netloc::read_paths(text, path, &map, name)?;
    out::diagnostics(&path.display().to_string(), &found, common);
    Ok(routes)
}
