//! Dependencies between the files of a crate, and cycles among them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::source::{Crate, Module};

/// By file the files whose items it uses. A re-export is no use: an import through one counts for the defining file.
pub(crate) fn edges(source: &Crate) -> BTreeMap<PathBuf, BTreeSet<PathBuf>> {
    let mut edges: BTreeMap<PathBuf, BTreeSet<PathBuf>> = BTreeMap::new();
    for (at, module) in &source.modules {
        let known = edges.entry(module.file.clone()).or_default();
        for path in &module.paths {
            if let Some(file) = definition(source, at, path, 0)
                && file != module.file
            {
                known.insert(file.to_owned());
            }
        }
        for glob in &module.globs {
            // A glob import of a module includes the names that it imports itself.
            if let Some(there) = module_of(source, at, glob)
                && !source.modules[&there].items.is_empty()
                && source.modules[&there].file != module.file
            {
                known.insert(source.modules[&there].file.clone());
            }
        }
    }
    edges
}

/// The target of a path in a module: the file that defines its item, if that is in this crate.
fn definition<'s>(
    source: &'s Crate,
    at: &[String],
    path: &[String],
    depth: usize,
) -> Option<&'s Path> {
    if depth > 16 {
        return None;
    }
    let (first, rest) = path.split_first()?;
    match first.as_str() {
        "crate" => item(source, &[], rest, depth),
        "self" => item(source, at, rest, depth),
        "super" => item(source, at.split_last()?.1, rest, depth),
        _ => item(source, at, path, depth),
    }
}

/// As [`definition`], of a path from a module on.
fn item<'s>(source: &'s Crate, at: &[String], path: &[String], depth: usize) -> Option<&'s Path> {
    let (first, rest) = path.split_first()?;
    if first == "super" {
        return item(source, at.split_last()?.1, rest, depth);
    }
    let module: &Module = source.modules.get(at)?;
    if module.items.contains(first) {
        return Some(&module.file);
    }
    if module.children.contains(first) {
        return item(source, &[at, std::slice::from_ref(first)].concat(), rest, depth);
    }
    if let Some(target) = module.uses.get(first) {
        // `use fabric::fabric;` must not lead to itself.
        if target.first() == Some(first) && target.len() == 1 {
            return None;
        }
        let whole = [target.as_slice(), rest].concat();
        return definition(source, at, &whole, depth + 1);
    }
    module.globs.iter().find_map(|glob| {
        let there = module_of(source, at, glob)?;
        (there != at).then(|| item(source, &there, path, depth + 1))?
    })
}

/// The module that a path names.
fn module_of(source: &Crate, at: &[String], path: &[String]) -> Option<Vec<String>> {
    let mut here = at.to_vec();
    for (i, word) in path.iter().enumerate() {
        match word.as_str() {
            "crate" if i == 0 => here.clear(),
            "self" if i == 0 => {}
            "super" => drop(here.pop()?),
            _ => here.push(word.clone()),
        }
    }
    source.modules.contains_key(&here).then_some(here)
}

/// Files that depend on each other, directly or through others: each set once, in the order of their names.
pub(crate) fn circles(edges: &BTreeMap<PathBuf, BTreeSet<PathBuf>>) -> BTreeSet<BTreeSet<PathBuf>> {
    let reach: BTreeMap<&PathBuf, BTreeSet<&PathBuf>> = edges
        .keys()
        .map(|from| {
            let mut seen = BTreeSet::new();
            let mut open: Vec<&PathBuf> = edges[from].iter().collect();
            while let Some(file) = open.pop() {
                if seen.insert(file) {
                    open.extend(edges.get(file).into_iter().flatten());
                }
            }
            (from, seen)
        })
        .collect();
    let back = |a: &PathBuf, b: &PathBuf| reach[a].contains(b) && reach[b].contains(a);
    let with = |a: &PathBuf| reach.keys().filter(|b| back(a, b)).map(|&b| b.clone()).collect();
    reach.keys().filter(|a| back(a, a)).map(|a| with(a)).collect()
}

/// Two files that use each other through a re-export of their crate form a cycle; one that only re-exports does not,
/// nor do uses in tests, nor a list of components.
#[test]
fn circles_are_found_through_re_exports() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text);
    for (name, text) in [
        ("lib.rs", "mod a;\nmod b;\nmod c;\npub use a::A;\npub use b::{B, other as renamed};\n"),
        ("a.rs", "use crate::renamed;\npub struct A;\nfn f() { renamed() }\n"),
        ("b.rs", "pub struct B(Vec<crate::A>);\npub fn other() {}\n"),
        (
            "c.rs",
            "pub static ALL: Registry<u8> = Registry::new(&[crate::b::B]);\nuse super::A;\n\
             #[cfg(test)]\nmod tests { use crate::B; }\n",
        ),
    ] {
        write(name, text).expect("a file");
    }
    let found = circles(&edges(&Crate::read(&folder.path().join("lib.rs"))));
    let files = |names: &[&str]| names.iter().map(|n| folder.path().join(n)).collect();
    assert_eq!(found, BTreeSet::from([files(&["a.rs", "b.rs"])]));
    let known = edges(&Crate::read(&folder.path().join("lib.rs")));
    assert_eq!(known[&folder.path().join("c.rs")], files(&["a.rs"]));
    assert_eq!(known[&folder.path().join("lib.rs")], files(&[]));
}
