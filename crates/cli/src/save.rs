//! Files that commands write: single ones, and the set of tables of `-o DIR`.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use darkfiber_fabric::Fabric;
use darkfiber_formats::disk::Os;
use darkfiber_formats::manifest::{
    GROUPS, GUID2LID, HOST_SL, LFTS, LID_CHOICE, MANIFEST, PATH_BITS, PATH_SL, PATH_SL_ROWS, SL2VL,
};
use darkfiber_formats::sets::{SetError, TableSet, make_folders};
use darkfiber_formats::{
    detect, edges, far, fdbs, guid2lid, ibnetdiscover, input, lft, lid_choice, manifest, named,
    output, path_bits, sl, sl2vl, subnet_lst,
};
use darkfiber_routing::{Lids, Routes};
use darkfiber_scenario::tables::TableFiles;

use crate::failure::{Exit, Failure};
use crate::options::{Common, SetArgs};
use crate::out;

/// Forwarding tables with hop counts, for `ibdmchk`.
const FDBS: &str = "fdbs";
/// Maximum number of pairs of a source and a LID of sets that are written in full. Larger ones have no [`FDBS`], no
/// [`PATH_SL`] but [`PATH_SL_ROWS`], and in [`LFTS`] only LIDs and ports.
const MOST_PATHS: u64 = 10_000_000;

/// Files that can be chosen with `--write`; `lfts` is short for `lfts.dump`.
const CHOICES: &[&str] = &[
    LFTS,
    GUID2LID,
    "fabric.topo",
    "subnet.lst",
    FDBS,
    PATH_SL,
    PATH_SL_ROWS,
    HOST_SL,
    SL2VL,
    PATH_BITS,
    LID_CHOICE,
    GROUPS,
];

/// Writes a file whole or not at all, in a directory that is made if need be; not onto one that this command has read.
pub(crate) fn file(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Failure> {
    refuse_input(path)?;
    update(path, write)
}

/// As [`file()`], of a file that a command keeps: it may have read what was kept before.
pub(crate) fn update(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Failure> {
    if let Some(parent) = path.parent().filter(|p| !p.as_os_str().is_empty() && !p.exists()) {
        directory(parent)?;
    }
    output::replace(path, write).map_err(|e| cannot(path, &e))
}

/// Refuses to write onto a file that this command has read, or to one called `-`.
pub(crate) fn refuse_input(path: &Path) -> Result<(), Failure> {
    refuse_dash(path)?;
    if named::was_read(path) { Err(refused_input(path)) } else { Ok(()) }
}

/// Refuses what is called as the standard streams are elsewhere.
fn refuse_dash(path: &Path) -> Result<(), Failure> {
    if path.as_os_str() == "-" {
        let what = "- is no name of a file or folder to write";
        return Err(Failure::usage(what).hint("give it a name; results are printed anyway"));
    }
    Ok(())
}

fn refused_input(path: &Path) -> Failure {
    let what = format!("{} was read, and would be replaced", path.display());
    Failure::usage(what).hint("give the output another name")
}

/// Makes a directory and those above it.
pub(crate) fn directory(path: &Path) -> Result<(), Failure> {
    refuse_dash(path)?;
    make_folders(&Os, path)
        .map_err(|e| Failure::input(format!("cannot make directory {}: {e}", path.display())))
}

fn cannot(path: &Path, e: &io::Error) -> Failure {
    Failure::input(format!("cannot write {}: {e}", path.display()))
}

/// Says now whether a file that is written at the end of a command can be written.
///
/// # Errors
/// If it cannot, or the command reads it, or another output has the same name.
pub(crate) fn expect(path: Option<&PathBuf>) -> Result<(), Failure> {
    path.map_or(Ok(()), |path| {
        refuse_input(path)?;
        if named::is_written_twice(path) {
            let what = format!("{} is named for two outputs", path.display());
            return Err(Failure::usage(what).hint("give each a name of its own"));
        }
        output::check(path).map_err(|e| {
            cannot(path, &e).hint(if path.is_dir() {
                "nothing was computed: name a file in it"
            } else {
                "nothing was computed: its directory must be writable"
            })
        })
    })
}

/// Checks early whether a directory that is filled at the end of a command can be written; it is made when its first
/// file is written, so that a command that fails leaves nothing.
pub(crate) fn expect_directory(path: Option<&PathBuf>) -> Result<(), Failure> {
    path.map_or(Ok(()), |path| {
        refuse_input(path)?;
        let made =
            path.ancestors().find(|p| p.as_os_str().is_empty() || p.symlink_metadata().is_ok());
        let made = made.filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        output::check_folder(made).map_err(|e| cannot(path, &e).hint("nothing was computed"))
    })
}

/// Files that could not be written. Results are printed all the same; the command fails afterwards.
#[derive(Default)]
pub(crate) struct Unwritten(Vec<Failure>);

impl Unwritten {
    /// Keeps a failure for later.
    pub(crate) fn note(&mut self, result: Result<(), Failure>) {
        self.0.extend(result.err());
    }

    /// End of the command, after its results are printed: as usual, unless something was not written.
    pub(crate) fn end(mut self, exit: Exit) -> Result<Exit, Failure> {
        let Some(last) = self.0.pop() else { return Ok(exit) };
        for failure in &self.0 {
            out::eprint_line(&format!("error: {}", failure.message));
        }
        Err(last)
    }
}

/// Whether a directory has tables that a command would read.
pub(crate) fn holds_tables(dir: &Path) -> bool {
    dir.join(MANIFEST).is_file() || TableFiles::are_in(dir)
}

/// Files of a set of tables that are written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Selection(Vec<String>);

impl Selection {
    /// Parses the values of `--write`.
    pub(crate) fn of(names: &[String]) -> Result<Self, Failure> {
        let mut chosen: Vec<String> = Vec::new();
        for name in names.iter().map(|name| name.trim()) {
            let plain = manifest::unpacked(name);
            let whole = if plain == "lfts" { LFTS } else { plain };
            if !CHOICES.contains(&whole) {
                return Err(Failure::unknown("file of a set of tables", name, CHOICES));
            }
            if chosen.iter().any(|other| manifest::unpacked(other) == whole) {
                return Err(Failure::usage(format!("--write: {plain} is named twice")));
            }
            chosen.push(format!("{whole}{}", &name[plain.len()..]));
        }
        Ok(Self(chosen))
    }

    /// Whether a file was named, so that it is written however large it is.
    fn names(&self, plain: &str) -> bool {
        self.0.iter().any(|name| manifest::unpacked(name) == plain)
    }

    /// The name under which a file is written, if it is.
    fn name<'a>(&'a self, plain: &'a str) -> Option<&'a str> {
        if self.0.is_empty() {
            return Some(plain);
        }
        self.0.iter().map(String::as_str).find(|name| manifest::unpacked(name) == plain)
    }
}

/// A set of tables that will be written into a directory.
pub(crate) struct Target {
    set: TableSet<'static>,
    selection: Selection,
    dir: PathBuf,
    quiet: bool,
}

impl Target {
    /// Locks the directory of `-o`, if there is one, and sees that a set can be written there.
    pub(crate) fn of(args: &SetArgs, common: &Common) -> Result<Option<Self>, Failure> {
        args.output.as_ref().map(|dir| Self::open(dir, args, common)).transpose()
    }

    /// As [`Target::of`], for a directory of this set alone.
    pub(crate) fn open(dir: &Path, args: &SetArgs, common: &Common) -> Result<Self, Failure> {
        refuse_dash(dir)?;
        let selection = Selection::of(&args.write)?;
        let set = TableSet::open(&Os, dir, args.in_place).map_err(refused)?;
        Ok(Self { set, selection, dir: dir.to_owned(), quiet: common.quiet })
    }

    /// Shows a note or a warning, unless these are not asked for.
    fn tell(&self, text: &str) {
        if !self.quiet {
            out::eprint_line(text);
        }
    }

    /// The directory, as it was named.
    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    /// Writes tables and all that goes with them, and `more` files by name.
    pub(crate) fn write(
        mut self,
        fabric: &Fabric,
        routes: &Routes,
        lids: &Lids,
        summary: &str,
        more: &[(&str, &str)],
    ) -> Result<(), Failure> {
        if self.set.is_in_place() {
            self.tell(&format!(
                "warning: the files in {} are replaced one by one: nobody must read them until this command \
                 has ended",
                self.dir.display()
            ));
        }
        let (set, selection) = (&mut self.set, &self.selection);
        // Notes and warnings for when all is written, and the files that were.
        let (mut notes, mut written): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
        let mut one = |plain: &str, write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>| {
            let Some(name) = selection.name(plain) else { return Ok(()) };
            written.push(plain.to_owned());
            set.file(name, write).map_err(refused)
        };
        let is_short = sl::path_count(fabric, lids) <= MOST_PATHS;
        one(LFTS, &mut |out| {
            let write = if is_short { lft::write } else { lft::write_brief };
            write(out, fabric, routes, lids)
        })?;
        one(GUID2LID, &mut |out| guid2lid::write(out, fabric, lids))?;
        // A set that is made anew for its own fabric keeps it, and no other one.
        let kept = self.dir.join("fabric.topo");
        if named::was_read(&kept) && !is_of(&kept, fabric) {
            return Err(refused_input(&kept));
        }
        one("fabric.topo", &mut |out| ibnetdiscover::write(out, fabric, Some(lids)))?;
        let mut has_list = false;
        one("subnet.lst", &mut |out| {
            has_list = true;
            subnet_lst::write(out, fabric, lids)
        })?;
        let unsaid: Vec<&str> = subnet_lst::without_rate(fabric).filter(|_| has_list).collect();
        if !unsaid.is_empty() {
            notes.push(format!(
                "note: subnet.lst says 4xQDR of links of other rates than InfiniBand's ({}); \
                 fabric.topo has the rates",
                unsaid.join(", ")
            ));
        }
        if is_short || selection.names(FDBS) {
            one(FDBS, &mut |out| fdbs::write(out, fabric, routes, lids))?;
        }
        if let Some(lanes) = routes.layers.by_hop() {
            if selection.name(SL2VL).is_none() {
                notes.push(
                    "warning: what is written does not say the lanes that switches choose (sl2vl does): without them \
                     routes can deadlock"
                        .to_owned(),
                );
            }
            one(SL2VL, &mut |out| sl2vl::write(out, fabric, lanes, lids))?;
        }
        let has_levels = routes.layers.by_hop().is_none_or(|lanes| lanes.levels().is_some());
        if has_levels && routes.layer_count() > 1 {
            if is_short || selection.names(PATH_SL) {
                one(PATH_SL, &mut |out| sl::write_paths(out, fabric, routes, lids))?;
            }
            let lists_all = is_short && sl::path_list_is_complete(fabric, routes);
            if !lists_all || selection.names(PATH_SL_ROWS) {
                one(PATH_SL_ROWS, &mut |out| sl::write_rows(out, fabric, routes, lids))?;
            }
            let by_host = sl::by_host(fabric, routes);
            if let Some(levels) = &by_host {
                one(HOST_SL, &mut |out| sl::write_hosts(out, fabric, levels))?;
            }
            let is_said = by_host.is_some() && selection.name(HOST_SL).is_some()
                || selection.name(PATH_SL_ROWS).is_some()
                || selection.name(PATH_SL).is_some() && sl::path_list_is_complete(fabric, routes);
            if is_said {
                let lists = if by_host.is_some() {
                    HOST_SL
                } else if lists_all {
                    PATH_SL
                } else {
                    PATH_SL_ROWS
                };
                notes.push(format!(
                    "note: the {} layers are service levels, which {lists} lists: where senders do not use these, routes \
                     can deadlock",
                    routes.layer_count()
                ));
            } else {
                notes.push(
                    "warning: what is written does not say all service levels (path-sl.rows does): without them \
                     routes can deadlock"
                        .to_owned(),
                );
            }
        }
        if routes.source_chooses() {
            one(PATH_BITS, &mut |out| path_bits::write(out, fabric, routes))?;
        }
        if let Some(choice) = &routes.choice {
            one(LID_CHOICE, &mut |out| lid_choice::write(out, choice, fabric, lids))?;
        }
        if let Some(hops) = &routes.groups {
            one(GROUPS, &mut |out| far::write(out, fabric, routes, hops, lids))?;
        }
        for (name, text) in more {
            self.set.file(name, |out| out.write_all(text.as_bytes())).map_err(refused)?;
        }
        let is_here = is_here(&self.dir);
        let left = self.set.commit(summary).map_err(refused)?;
        if let Some(left) = left {
            notes.push(format!(
                "warning: the old tables are replaced, but not all of {} could be removed; the next run tries again",
                left.display()
            ));
        }
        if is_here {
            notes.push(
                "note: the directory in which this was called was replaced: `cd .` shows the new one"
                    .to_owned(),
            );
        }
        let is_written = |name: &&str| written.iter().any(|w| w == manifest::unpacked(name));
        let chosen = selection.0.iter().map(String::as_str);
        let not_needed: Vec<&str> = chosen.filter(|name| !is_written(name)).collect();
        if !not_needed.is_empty() {
            notes.push(format!(
                "warning: {} not written: these routes have nothing to say there",
                match not_needed[..] {
                    [one] => format!("{one} is"),
                    _ => format!("{} are", not_needed.join(", ")),
                }
            ));
        }
        if !self.quiet {
            for text in &notes {
                out::eprint_line(text);
            }
        }
        Ok(())
    }
}

/// Whether a file is of the same fabric.
fn is_of(path: &Path, fabric: &Fabric) -> bool {
    let options = edges::Options::default();
    let read = input::read(path).and_then(|text| detect::parse_fabric(&text, path, &options));
    read.is_ok_and(|(topology, _)| topology.fabric.digest() == fabric.digest())
}

/// Whether a directory is the working directory of the command.
fn is_here(dir: &Path) -> bool {
    let here = std::env::current_dir().and_then(std::fs::canonicalize);
    here.is_ok_and(|here| std::fs::canonicalize(dir).is_ok_and(|dir| dir == here))
}

fn refused(error: SetError) -> Failure {
    let hint = match &error {
        SetError::Io { source, .. } if source.kind() == io::ErrorKind::ResourceBusy => {
            "wait until it has ended, or give another directory"
        }
        SetError::Io { .. } => "",
        SetError::CannotSwap { .. } => {
            "give a new or empty directory; --in-place replaces the files one by one, while nobody reads them"
        }
        SetError::NoRegularFile { .. } => {
            "remove it first, or give --in-place, which writes through it"
        }
        SetError::Leftover { .. } => "move what is yours out of it, and remove it",
    };
    Failure::input(error).hint(hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_chosen_by_name_and_compressed_by_ending() {
        let names = |list: &[&str]| list.iter().map(|&n| n.to_owned()).collect::<Vec<_>>();
        let all = Selection::default();
        assert_eq!(all.name(PATH_SL), Some("path-sl"));
        let some = Selection::of(&names(&["lfts", "path-sl.zst"])).expect("names");
        assert_eq!(some.name(LFTS), Some("lfts.dump"));
        assert_eq!(some.name(PATH_SL), Some("path-sl.zst"));
        assert_eq!(some.name(GUID2LID), None);
        for wrong in [&["lft"][..], &["lfts", "lfts.dump.gz"], &["../x"], &["path-sl.xz"]] {
            assert_eq!(Selection::of(&names(wrong)).map_err(|e| e.exit), Err(Exit::Usage));
        }
    }
}
