//! A bill of materials (CycloneDX 1.5): every crate in the program, with version, licence, digest and dependencies.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::programs::output;

/// Writes it for the program that is built for `target`.
pub(super) fn write(root: &Path, out: &Path, target: &str) -> Result<PathBuf, String> {
    let text = output(
        env!("CARGO"),
        &["metadata", "--format-version", "1", "--locked", "--filter-platform", target],
        Some(root),
    )?;
    let metadata: Value = serde_json::from_str(&text).map_err(|e| e.to_string())?;
    let lock = fs::read_to_string(root.join("Cargo.lock")).map_err(|e| e.to_string())?;
    let bill = bill(&metadata, &digests(&lock))?;
    let to = out.join(format!("darkfiber-{}.cdx.json", env!("CARGO_PKG_VERSION")));
    let text = serde_json::to_string_pretty(&bill).map_err(|e| e.to_string())?;
    fs::write(&to, text + "\n").map_err(|e| format!("{}: {e}", to.display()))?;
    Ok(to)
}

/// SHA-256 of packages by name and version, as Cargo.lock has them.
fn digests(lock: &str) -> BTreeMap<(String, String), String> {
    let field = |part: &str, key: &str| {
        let line = part.lines().find_map(|l| l.strip_prefix(&format!("{key} = \"")));
        line.and_then(|l| l.strip_suffix('"')).map(str::to_owned)
    };
    let packages = lock.split("[[package]]").skip(1);
    packages
        .filter_map(|p| Some(((field(p, "name")?, field(p, "version")?), field(p, "checksum")?)))
        .collect()
}

/// The nodes that are linked into package `darkfiber`, and the dependencies of each; build and test dependencies are
/// left out.
fn linked(metadata: &Value) -> Result<BTreeMap<&str, Vec<&str>>, String> {
    let nodes = metadata["resolve"]["nodes"].as_array().ok_or("cargo metadata has no nodes")?;
    let by_id: BTreeMap<&str, &Value> =
        nodes.iter().filter_map(|n| Some((n["id"].as_str()?, n))).collect();
    let packages = metadata["packages"].as_array().ok_or("cargo metadata has no packages")?;
    let own = packages.iter().find(|p| p["name"] == "darkfiber").and_then(|p| p["id"].as_str());
    let mut open = vec![own.ok_or("there is no package darkfiber")?];
    let mut found = BTreeMap::new();
    while let Some(id) = open.pop() {
        if found.contains_key(id) {
            continue;
        }
        let needs = by_id.get(id).and_then(|n| n["deps"].as_array()).into_iter().flatten();
        let is_linked = |d: &&Value| {
            d["dep_kinds"].as_array().is_some_and(|k| k.iter().any(|k| k["kind"].is_null()))
        };
        let needs: Vec<&str> = needs.filter(is_linked).filter_map(|d| d["pkg"].as_str()).collect();
        open.extend(&needs);
        found.insert(id, needs);
    }
    Ok(found)
}

fn bill(metadata: &Value, digests: &BTreeMap<(String, String), String>) -> Result<Value, String> {
    let linked = linked(metadata)?;
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let packages: BTreeMap<&str, &Value> =
        packages.filter_map(|p| Some((p["id"].as_str()?, p))).collect();
    let name = |id: &str| {
        let p = packages.get(id);
        let of = |key: &str| p.and_then(|p| p[key].as_str()).unwrap_or_default().to_owned();
        (of("name"), of("version"))
    };
    let reference = |id: &str| {
        let (name, version) = name(id);
        format!("pkg:cargo/{name}@{version}")
    };
    let component = |id: &str, kind: &str| {
        let (name, version) = name(id);
        let mut part = json!({
            "type": kind,
            "bom-ref": reference(id),
            "name": name,
            "version": version,
            "purl": reference(id),
        });
        if let Some(licence) = packages.get(id).and_then(|p| p["license"].as_str()) {
            // Older crates write `A/B` where SPDX has `A OR B`.
            part["licenses"] = json!([{ "expression": licence.replace('/', " OR ") }]);
        }
        if let Some(digest) = digests.get(&(name, version)) {
            part["hashes"] = json!([{ "alg": "SHA-256", "content": digest }]);
        }
        part
    };
    let own = linked.keys().find(|id| name(id).0 == "darkfiber").copied().unwrap_or_default();
    let others: BTreeSet<&str> = linked.keys().copied().filter(|id| *id != own).collect();
    Ok(json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": { "component": component(own, "application") },
        "components": others.iter().map(|id| component(id, "library")).collect::<Vec<_>>(),
        "dependencies": linked
            .iter()
            .map(|(id, needs)| json!({
                "ref": reference(id),
                "dependsOn": needs.iter().map(|n| reference(n)).collect::<Vec<_>>(),
            }))
            .collect::<Vec<_>>(),
    }))
}
