//! Existing forwarding tables, and the files next to them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use darkfiber_analysis::{Finding, finding};
use darkfiber_fabric::Fabric;
use darkfiber_formats::{
    Diagnostics, ReadError, detect, far, fdbs, guid2lid, input, lft, lid_choice, manifest, netloc,
    path_bits, sl, sl2vl, tables,
};
use darkfiber_routing::check::check;
use darkfiber_routing::{Lids, Routes};

use crate::{Error, Listener, Loaded};

/// Forwarding tables in OpenSM's dump directory.
const OPENSM_LFTS: &str = "opensm-lfts.dump";
/// The lanes that switches have.
const OPENSM_SL2VL: &str = "opensm-sl2vl.dump";
/// How a matrix of service levels begins if this engine of OpenSM gave them.
const TORUS_2QOS: &str = "# engine torus-2QoS";

/// Forms of forwarding tables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TableForm {
    /// Format detected by content.
    #[default]
    Auto,
    /// OpenSM's lfts dump, `dump_lfts.sh`, `ibroute`.
    Lft,
    /// The format of `osm.fdbs`.
    Fdbs,
    /// ibdiagnet2.far, with groups of ports.
    Far,
    /// Paths files of netloc.
    Netloc,
}

/// The files that hold routes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableFiles {
    /// Forwarding tables: a file, or a directory that `darkfiber route -o` or OpenSM wrote.
    pub tables: PathBuf,
    /// The form of the tables.
    pub form: TableForm,
    /// LIDs of ports, as in OpenSM's cache.
    pub guid2lid: Option<PathBuf>,
    /// Service levels; without, all routes are in lane 0.
    pub sl: Option<PathBuf>,
    /// Lanes that switches choose by input and output port, and by the service levels, if there are any.
    pub sl2vl: Option<PathBuf>,
    /// File with the LID of its destinations that each source uses.
    pub path_bits: Option<PathBuf>,
    /// File with the LID of its destination that each message takes.
    pub lid_choice: Option<PathBuf>,
    /// Groups of ports of adaptive routing (ibdiagnet2.far).
    pub groups: Option<PathBuf>,
}

impl TableFiles {
    /// A file, or a directory with all that belongs to it.
    pub fn at(tables: PathBuf) -> Self {
        Self { tables, ..Self::default() }
    }

    /// Whether a directory has tables that would be read.
    pub fn are_in(directory: &Path) -> bool {
        directory.is_dir() && Self::at(directory.to_owned()).found().is_ok()
    }

    /// Adds the files of the directory, if the tables are one.
    fn found(&self) -> Result<Self, Error> {
        let path = &self.tables;
        let mut files = self.clone();
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
        files.tables = in_it(&[manifest::LFTS, OPENSM_LFTS])?.ok_or_else(|| {
            Error::input(format!(
                "{}: there is neither {} nor {OPENSM_LFTS} in this directory",
                path.display(),
                manifest::LFTS
            ))
            .hint(match inner(path) {
                Some(inner) => format!(
                    "it holds those of several engines: give one of them, such as {}",
                    inner.display()
                ),
                None => "give the table file itself, a directory that `darkfiber route -o` wrote, or OpenSM's dump \
                 directory"
                    .to_owned(),
            })
        })?;
        let beside = |file: &mut Option<PathBuf>, names: &[&str]| -> Result<(), ReadError> {
            if file.is_none() {
                *file = in_it(names)?;
            }
            Ok(())
        };
        beside(&mut files.guid2lid, &[manifest::GUID2LID])?;
        // The rows contain all data of the list, and more.
        beside(&mut files.sl, &[manifest::PATH_SL_ROWS, manifest::PATH_SL, manifest::HOST_SL])?;
        beside(&mut files.sl2vl, &[manifest::SL2VL])?;
        beside(&mut files.path_bits, &[manifest::PATH_BITS])?;
        beside(&mut files.lid_choice, &[manifest::LID_CHOICE])?;
        beside(&mut files.groups, &[manifest::GROUPS])?;
        Ok(files)
    }
}

/// Tables that were read.
pub struct Read {
    /// Routes of the tables.
    pub routes: Routes,
    /// The LIDs that they speak of, where they do.
    pub lids: Option<Lids>,
    /// Whether a file gave them (guid2lid): the fabric is to get them, if it does not have them.
    pub are_lids_planned: bool,
    /// Whether service levels were given with them, or lanes; else all routes are taken in lane 0.
    pub has_levels: bool,
    /// What shows that the file lacks entries that the switches may have: it was cut short, or has lines that are none. Nothing follows
    /// from what such tables do not say.
    pub lacks: Option<String>,
    /// What was odd about the service levels.
    pub remarks_of_levels: Diagnostics,
}

impl Read {
    /// Says that groups of ports are not followed, where there are some.
    pub fn report_static_ports(&self, listener: &mut dyn Listener) {
        if self.routes.groups.is_some() && listener.hears_notes() {
            listener.note(
                "note: groups of ports are left aside here, and packets take the static ports; darkfiber check proves the groups, \
                 and ecmp in a scenario's [routes] hashes among them",
            );
        }
    }

    /// Says that lane 0 was assumed for all routes, where that matters: they can deadlock in it.
    pub fn report_assumed_lane(&self, fabric: &Fabric, listener: &mut dyn Listener) {
        if !self.has_levels
            && listener.hears_notes()
            && !check(fabric, &self.routes).deadlock_free()
        {
            let Finding { message, hint, .. } = finding::of_assumed_lane();
            listener.note(&format!("note: {message}, where they can deadlock; {hint}"));
        }
    }
}

/// The first directory of tables in this one.
fn inner(path: &Path) -> Option<PathBuf> {
    let entries = path.read_dir().ok()?;
    let mut inner: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    inner.retain(|path| manifest::find(path, manifest::LFTS).is_ok_and(|found| found.is_some()));
    inner.sort();
    inner.into_iter().next()
}

/// Reads tables, for a fabric that was loaded as `name`.
///
/// # Errors
/// If they cannot be read, are of another fabric, or a set of them was torn or altered; for a fabric of several planes.
pub fn read(
    files: &TableFiles,
    name_of_fabric: &str,
    loaded: &Loaded,
    listener: &mut dyn Listener,
) -> Result<Read, Error> {
    // Each plane is a subnet, which has its own LIDs.
    let planes = loaded.topology.plane_count();
    if planes > 1 {
        let tables = files.tables.display();
        return Err(Error::input(format!(
            "{tables}: tables are of one subnet, and {name_of_fabric} has {planes} planes"
        ))
        .hint("--plane 1 takes one of them (in a scenario: plane = 1)"));
    }
    if !files.tables.is_dir() {
        // A file may be of a set that was torn or altered, too.
        let beside = [
            &files.guid2lid,
            &files.sl,
            &files.sl2vl,
            &files.path_bits,
            &files.lid_choice,
            &files.groups,
        ];
        for file in beside.into_iter().flatten().chain([&files.tables]) {
            manifest::verify_file(file)?;
        }
        return read_files(files, name_of_fabric, loaded, listener);
    }
    let set = manifest::verify(&files.tables)?;
    let mut read = read_files(files, name_of_fabric, loaded, listener)?;
    set.check_unchanged()?;
    read.has_levels |= set.has_one_layer();
    if let Some(note) = &set.note {
        listener.note(&format!("{}: note: {note}", files.tables.display()));
    }
    Ok(read)
}

/// Reads tables whose directory, if they are in one, was verified.
fn read_files(
    files: &TableFiles,
    name_of_fabric: &str,
    loaded: &Loaded,
    listener: &mut dyn Listener,
) -> Result<Read, Error> {
    let files = files.found()?;
    let fabric = &loaded.topology.fabric;
    let text = input::read_text(&files.tables)?;
    let path = files.tables.as_path();
    let mut show = |source: &Path, found: &Diagnostics| {
        listener.remarks(&source.display().to_string(), found);
    };
    let lids = match &files.guid2lid {
        None => None,
        Some(path) => {
            let (ranges, mut found) = guid2lid::read(&input::read_text(path)?, path)?;
            let (lids, more) = guid2lid::to_lids(fabric, &ranges, path)?;
            found.0.extend(more.0);
            show(path, &found);
            Some(lids)
        }
    };
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let form = match files.form {
        TableForm::Auto => recognise(&text, path)?,
        given => given,
    };
    let mut groups = None;
    let tables = match form {
        TableForm::Netloc => {
            let routes = read_netloc(name_of_fabric, loaded, &text, path, &name, listener)?;
            return Ok(Read {
                routes,
                lids: None,
                are_lids_planned: false,
                has_levels: false,
                lacks: None,
                remarks_of_levels: Diagnostics::default(),
            });
        }
        TableForm::Fdbs => fdbs::read(&text, path),
        TableForm::Far => far::read(&text, path).map(|(far, found)| {
            let tables = far.tables.clone();
            groups = Some((far, path));
            (tables, found)
        }),
        TableForm::Lft | TableForm::Auto => lft::read(&text, path),
    };
    let (tables, found) = tables?;
    show(path, &found);
    let (mut routes, bound) = tables::to_routes(fabric, &tables, lids.as_ref(), &name, path)?;
    show(path, &bound);
    let lacking = found.first_left_out().or_else(|| bound.first_left_out());
    let lacks = lacking.map(ToString::to_string);
    let lids = lids.unwrap_or_else(|| tables::lids_of(fabric, &tables).0);
    if files.guid2lid.is_none() {
        show(path, &tables::other_lids(fabric, &lids));
    }
    show(path, &tables::fewer_lids(fabric, &lids));
    if let Some(path) = &files.path_bits {
        let (select, found) = path_bits::read(&input::read_text(path)?, path, fabric, &routes)?;
        show(path, &found);
        routes.set_select(select);
    }
    let mut remarks_of_levels = Diagnostics::default();
    if let Some(sl_path) = &files.sl {
        let levels = input::read_text(sl_path)?;
        if files.sl2vl.is_none() && levels.starts_with(TORUS_2QOS) {
            return Err(Error::input(format!(
                "{}: service levels of torus-2QoS, whose switches choose lanes by level and ports",
                sl_path.display()
            ))
            .hint("give these, too: --sl2vl FILE, OpenSM's opensm-sl2vl.dump (-Q, -D 0x43)"));
        }
        let found = sl::read(&levels, sl_path, fabric, &lids, &mut routes)?;
        show(sl_path, &found);
        remarks_of_levels = found;
        if files.sl2vl.is_none() {
            let dumped = path.with_file_name(OPENSM_SL2VL);
            if dumped.exists() && !sl2vl::is_identity(&input::read_text(&dumped)?) {
                let mut found = Diagnostics::default();
                found.warn(
                    0,
                    "switches have other lanes than service levels",
                    "not read: lane = service level is taken; --sl2vl gives this file",
                );
                show(&dumped, &found);
            }
        }
    }
    if let Some(path) = &files.sl2vl {
        let levels = routes.layers.clone();
        let text = input::read_text(path)?;
        let (layers, discards, found) = sl2vl::read(&text, path, fabric, levels)?;
        show(path, &found);
        if let Some(lost) = discards.lost(fabric, &routes) {
            return Err(Error::input(format!("{}: {lost}", path.display()))
                .hint("give these pairs another service level, or the level a lane of 0 to 14"));
        }
        routes.layers = layers;
    }
    if let Some(path) = &files.lid_choice {
        let text = input::read_text(path)?;
        let (choice, found) = lid_choice::read(&text, path, fabric, &lids, routes.paths())?;
        show(path, &found);
        routes.choice = Some(choice);
    }
    if let Some(path) = &files.groups {
        let (far, found) = far::read(&input::read_text(path)?, path)?;
        show(path, &found);
        groups = Some((far, path));
    }
    if let Some((far, path)) = &groups {
        let (hops, found) = far::to_groups(fabric, far, &lids, &routes, path)?;
        show(path, &found);
        routes.groups = Some(Arc::new(hops));
    }
    Ok(Read {
        routes,
        lids: Some(lids),
        are_lids_planned: files.guid2lid.is_some(),
        has_levels: files.sl.is_some() || files.sl2vl.is_some(),
        lacks,
        remarks_of_levels,
    })
}

/// Detects the kind of tables in a text.
fn recognise(text: &str, path: &Path) -> Result<TableForm, Error> {
    let found = detect(text, path);
    let forms = [
        (lft::FORMAT, TableForm::Lft),
        (fdbs::FORMAT, TableForm::Fdbs),
        (far::FORMAT, TableForm::Far),
        (netloc::PATHS, TableForm::Netloc),
    ];
    if let Some((_, form)) = forms.into_iter().find(|(format, _)| Some(format) == found) {
        return Ok(form);
    }
    let what = found.map_or("unrecognised format".to_owned(), |format| {
        format!("this looks like {}", format.what)
    });
    Err(Error::input(format!("{}: {what}; expected forwarding tables", path.display())).hint(
        "OpenSM's lfts dump, dump_lfts.sh, ibroute, osm.fdbs, ibdiagnet2.far or netloc paths",
    ))
}

fn read_netloc(
    name_of_fabric: &str,
    loaded: &Loaded,
    text: &str,
    path: &Path,
    name: &str,
    listener: &mut dyn Listener,
) -> Result<Routes, Error> {
    let nodes = loaded.text.as_deref().unwrap_or_default();
    if loaded.degraded {
        return Err(Error::usage("netloc paths name cables by number: faults cannot be applied"));
    }
    let fabric_path = Path::new(name_of_fabric);
    let (map, _shown) = netloc::read_map(nodes, fabric_path).map_err(|e: ReadError| {
        Error::from(e).hint("netloc paths need their nodes file as FABRIC")
    })?;
    let (routes, found) = netloc::read_paths(text, path, &map, name)?;
    listener.remarks(&path.display().to_string(), &found);
    Ok(routes)
}
