//! Properties that every family of the registry has.

use std::collections::BTreeSet;

use darkfiber_fabric::{COMMON_KEYS, FAMILIES, SpecError, family, parse_spec};

use crate::support::spec;

#[test]
fn names_and_aliases_are_unique_and_found() {
    let mut seen = BTreeSet::new();
    for f in &FAMILIES {
        for name in std::iter::once(f.name()).chain(f.aliases().iter().copied()) {
            assert!(seen.insert(name), "{name} twice");
            assert_eq!(family(name).expect(name).name(), f.name());
        }
    }
}

#[test]
fn everything_is_documented() {
    for f in &FAMILIES {
        assert!(!f.summary().is_empty() && !f.summary().ends_with('.'), "{}", f.name());
        assert!(f.doc().len() > 60 && f.doc().ends_with('.'), "{}", f.name());
        assert!(!f.paper().is_empty());
        let keys: BTreeSet<&str> = f.keys().iter().chain(COMMON_KEYS).map(|k| k.name).collect();
        assert_eq!(keys.len(), f.keys().len() + COMMON_KEYS.len(), "{}: key twice", f.name());
    }
}

#[test]
fn examples_are_named_after_themselves_and_repeatable() {
    for f in &FAMILIES {
        let (one, two) = (spec(f.example()), spec(f.example()));
        assert_eq!(one.fabric.name(), f.example());
        assert_eq!(one.fabric.digest(), two.fabric.digest());
        assert_eq!(one, two);
        assert_eq!(one.fabric.components().len(), 1, "{}", f.name());
        assert!(one.fabric.unlinked_adapters().is_empty());
        assert!(one.shape.is_some());
    }
}

#[test]
fn spaces_and_the_order_of_keys_do_not_matter() {
    let (one, two) = (spec("hyperx:dims=3x2,t=4"), spec(" hyperx: t = 4 , dims = 3x2, "));
    assert_eq!(one.fabric.digest(), two.fabric.digest());
    assert_eq!(one.shape, two.shape);
}

#[test]
fn stated_defaults_are_the_defaults() {
    for f in &FAMILIES {
        let plain = spec(f.example()).fabric.digest();
        for key in f.keys() {
            let Some(default) = key.default.filter(|d| d.parse::<u32>().is_ok()) else {
                continue;
            };
            let stated = format!("{}={default}", key.name);
            if f.example().contains(&format!("{}=", key.name)) {
                continue;
            }
            let text = format!("{},{stated}", f.example());
            assert_eq!(spec(&text).fabric.digest(), plain, "{text}");
        }
    }
}

#[test]
fn required_keys_are_required() {
    for f in &FAMILIES {
        let (name, pairs) = f.example().split_once(':').expect("a spec");
        for key in f.keys().iter().filter(|k| k.default.is_none()) {
            let left: Vec<&str> =
                pairs.split(',').filter(|p| !p.starts_with(&format!("{}=", key.name))).collect();
            let error = parse_spec(&format!("{name}:{}", left.join(","))).expect_err(key.name);
            let SpecError::MissingKey { key: missing, .. } = error else {
                panic!("{name} without {}: {error}", key.name)
            };
            assert_eq!(missing, key.name);
        }
    }
}

#[test]
fn aliases_make_the_same_fabric() {
    let digest = |text: &str| spec(text).fabric.digest();
    assert_eq!(digest("xgft:m=4x4,w=1x4"), digest("fattree2:n=4,m=4,r=4"));
    assert_eq!(digest("kary:k=4,n=2"), digest("ft2:n=4,m=4,r=4"));
    assert_eq!(digest("pgft:m=18x18x4,w=1x18x2,p=1x1x9"), digest("clos3:k=36,pods=4"));
    assert_eq!(digest("dragonfly:p=1,a=4,h=2"), digest("dragonfly:p=1,a=4,h=2,g=9,per_pair=1"),);
    assert_eq!(digest("hypercube:n=3,t=2"), digest("hyperx:dims=2x2x2,t=2"));
    assert_eq!(digest("fullmesh:n=7,trunk=2"), digest("hyperx:dims=7,trunk=2"));
    assert_eq!(
        digest("megafly:p=1,leaves=2,spines=3,h=1"),
        digest("dragonflyplus:p=1,leaves=2,spines=3,g=4,per_pair=1")
    );
}
