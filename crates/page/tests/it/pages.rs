//! Pages: the content of names stays a name, and equal input gives equal bytes.

use darkfiber_fabric::{ChannelId, Fabric, open};
use darkfiber_page::{
    Axis, Chart, ChartLine, JobOnMap, Measured, Origin, Page, PageFinding, Sheet, Unit, View, map,
    page as html,
};

const BAD: &str = "</script><script>alert(1)</script><!--\u{202e}\u{7}\n\"'&";

fn chart(name: &str) -> Chart {
    let line = ChartLine { name: name.to_owned(), values: vec![Some(1.0), None] };
    let names = vec![name.to_owned(); 2];
    Chart::of_names(name, Axis::new(name, Measured::Number), names, vec![line])
}

fn page<'a>(fabric: &'a Fabric, name: &str) -> Page<'a> {
    let load: Vec<f64> = (0..fabric.channel_count()).map(|c| c as f64).collect();
    Page {
        title: name.to_owned(),
        subtitle: name.to_owned(),
        fabric,
        shape: None,
        views: vec![View {
            name: name.to_owned(),
            unit: Unit::Routes,
            load,
            series: None,
            lanes: Vec::new(),
        }],
        jobs: vec![JobOnMap {
            name: name.to_owned(),
            fact: name.to_owned(),
            ..JobOnMap::default()
        }],
        findings: vec![PageFinding {
            severity: "error",
            message: name.to_owned(),
            hint: name.to_owned(),
            channels: vec![ChannelId::new(0)],
            ..PageFinding::default()
        }],
        charts: vec![chart(name)],
        sheets: vec![Sheet {
            title: name.to_owned(),
            heading: vec![name.to_owned()],
            rows: vec![vec![name.to_owned()]],
        }],
        routes: None,
        facts: vec![(name.to_owned(), name.to_owned())],
        origin: Origin { command: name.to_owned(), ..Origin::default() },
    }
}

#[test]
fn no_name_becomes_markup() {
    let fabric = open("@t2hx-hyperx").expect("a preset").fabric;
    let (tame, wild) = (html(&page(&fabric, "tame")), html(&page(&fabric, BAD)));
    for mark in ["<script", "</script", "<!--", "<svg", "<li>", "onerror"] {
        assert_eq!(tame.matches(mark).count(), wild.matches(mark).count(), "{mark}");
    }
    assert!(!wild.contains(['\u{202e}', '\u{7}']));
    assert!(wild.contains("&lt;/script&gt;&lt;script&gt;"));
}

#[test]
fn nothing_is_fetched() {
    let fabric = open("fattree2:n=4,m=4,r=8").expect("a family").fabric;
    let html = html(&page(&fabric, "a"));
    assert!(html.contains("default-src 'none'"));
    let head = html.split("<script>").next().expect("a head");
    for word in [" src=", "@import", "url(http", "<link rel=\"stylesheet\""] {
        assert!(!head.contains(word), "{word}");
    }
}

#[test]
fn equal_input_gives_equal_bytes() {
    let fabric = open("dragonfly:p=2,a=4,h=2").expect("a family").fabric;
    assert_eq!(html(&page(&fabric, "a")), html(&page(&fabric, "a")));
}

#[test]
fn the_page_says_it_in_words_too() {
    let fabric = open("fattree2:n=4,m=4,r=8").expect("a family").fabric;
    let html = html(&page(&fabric, "a"));
    let channels = fabric.channel_count();
    let words = format!("Lit by a: {} of {channels} channels, 1 dark.", channels - 1);
    assert!(html.contains(&words));
    assert!(html.contains("<caption>Fullest channels</caption>"));
}

#[test]
fn a_map_alone_is_a_picture() {
    let fabric = open("@t2hx-hyperx").expect("a preset").fabric;
    let svg = map(&page(&fabric, BAD));
    assert!(svg.starts_with("<svg xmlns=") && svg.ends_with("</svg>\n"));
    assert_eq!(svg.matches("<script").count(), 0);
    assert!(!svg.contains(['\u{202e}', '\u{7}']));
    // One title and one panel for each view.
    assert_eq!(svg.matches("<svg").count(), 2);
    let mut two = page(&fabric, "b");
    two.views.push(two.views[0].clone());
    assert_eq!(map(&two).matches("<svg").count(), 3);
    // Without loads: the cables, all dark, and no scale.
    two.views.clear();
    let dark = map(&two);
    assert_eq!((dark.matches("<svg").count(), dark.matches("linearGradient").count()), (2, 0));
}
