//! The parts of a source file that these checks need: modules, names, imports, paths, and text in quotes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// A module: its child modules, and the names in it.
#[derive(Debug, Default)]
pub(crate) struct Module {
    pub(crate) file: PathBuf,
    pub(crate) children: BTreeSet<String>,
    pub(crate) items: BTreeSet<String>,
    /// Imports and re-exports by the name that they have here, as paths.
    pub(crate) uses: BTreeMap<String, Vec<String>>,
    /// Modules of which everything is imported.
    pub(crate) globs: Vec<Vec<String>>,
    /// Paths in code and private imports: uses of this module.
    pub(crate) paths: BTreeSet<Vec<String>>,
}

/// A text in quotes, with the lines that it covers.
pub(crate) struct Literal {
    pub(crate) text: String,
    pub(crate) lines: std::ops::RangeInclusive<usize>,
}

/// All modules of a crate by their paths from its root, tests left out, and all texts in quotes by file.
#[derive(Default)]
pub(crate) struct Crate {
    pub(crate) modules: BTreeMap<Vec<String>, Module>,
    pub(crate) literals: BTreeMap<PathBuf, Vec<Literal>>,
}

impl Crate {
    /// Reads a crate from its `lib.rs` or `main.rs`.
    pub(crate) fn read(root: &Path) -> Self {
        let mut all = Self::default();
        all.file(root, &[], root.parent().expect("a folder"));
        all
    }

    /// Reads a file; `folder` has the files of the modules below it.
    fn file(&mut self, file: &Path, path: &[String], folder: &Path) {
        let text =
            std::fs::read_to_string(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        let tokens: TokenStream =
            text.parse().unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        self.module(&tokens, file, path, folder);
    }

    fn module(&mut self, tokens: &[TokenTree], file: &Path, path: &[String], folder: &Path) {
        let mut module = Module { file: file.to_owned(), ..Module::default() };
        let children = self.scan(tokens, &mut module, true);
        self.modules.insert(path.to_vec(), module);
        for (name, body) in children {
            let inner = [path, std::slice::from_ref(&name)].concat();
            if let Some(body) = body {
                self.module(&body, file, &inner, &folder.join(&name));
                continue;
            }
            let beside = folder.join(format!("{name}.rs"));
            let own = folder.join(&name).join("mod.rs");
            let file = if beside.exists() { beside } else { own };
            self.file(&file, &inner, &folder.join(&name));
        }
    }

    /// Records the names and uses in tokens; returns the child modules, with their tokens if they are inline.
    fn scan(
        &mut self,
        tokens: &[TokenTree],
        module: &mut Module,
        items: bool,
    ) -> Vec<(String, Option<Vec<TokenTree>>)> {
        let mut below = Vec::new();
        let mut i = 0;
        while i < tokens.len() {
            if is_punct(tokens.get(i), '#') {
                let inner = usize::from(is_punct(tokens.get(i + 1), '!'));
                let text = tokens.get(i + 1 + inner).map(ToString::to_string).unwrap_or_default();
                i += 2 + inner;
                if inner == 0 && text.replace(' ', "").starts_with("[cfg(test") {
                    i = end_of_item(tokens, i);
                }
                continue;
            }
            match &tokens[i] {
                TokenTree::Group(group) => {
                    let inside: Vec<TokenTree> = group.stream().into_iter().collect();
                    self.scan(&inside, module, false);
                    i += 1;
                }
                TokenTree::Literal(literal) => {
                    let span = literal.span();
                    let lines = span.start().line..=span.end().line;
                    let text = literal.to_string();
                    if text.contains('"') {
                        let found = self.literals.entry(module.file.clone()).or_default();
                        found.push(Literal { text, lines });
                    }
                    i += 1;
                }
                TokenTree::Punct(_) => i += 1,
                TokenTree::Ident(word) => {
                    let word = word.to_string();
                    let next = tokens.get(i + 1);
                    match (word.as_str(), next) {
                        ("use", _) => {
                            let end = (i..tokens.len()).find(|&n| is_punct(tokens.get(n), ';'));
                            let end = end.unwrap_or(tokens.len());
                            import(&tokens[i + 1..end], module, is_public(tokens, i));
                            i = end + 1;
                        }
                        ("mod", Some(TokenTree::Ident(name))) if items => {
                            module.children.insert(name.to_string());
                            let body = match tokens.get(i + 2) {
                                Some(TokenTree::Group(g)) => Some(g.stream().into_iter().collect()),
                                _ => None,
                            };
                            below.push((name.to_string(), body));
                            i += 3;
                        }
                        ("static", Some(TokenTree::Ident(name))) if items => {
                            module.items.insert(name.to_string());
                            // A list of components names them all; the components do not depend on the list.
                            let end = end_of_item(tokens, i);
                            let is_list = tokens[i..end]
                                .iter()
                                .any(|t| matches!(t, TokenTree::Ident(w) if w == "Registry"));
                            i = if is_list { end } else { i + 2 };
                        }
                        (
                            "fn" | "struct" | "enum" | "trait" | "type" | "const",
                            Some(TokenTree::Ident(name)),
                        ) if items => {
                            module.items.insert(name.to_string());
                            i += 2;
                        }
                        ("macro_rules", _) => {
                            module.items.insert(
                                tokens.get(i + 2).map_or_else(String::new, ToString::to_string),
                            );
                            i += 3;
                        }
                        _ => {
                            let (path, end) = path_at(tokens, i);
                            let is_member = i > 0 && is_punct(tokens.get(i - 1), '.');
                            if !is_member {
                                module.paths.insert(path);
                            }
                            i = end;
                        }
                    }
                }
            }
        }
        below
    }
}

fn is_punct(token: Option<&TokenTree>, mark: char) -> bool {
    matches!(token, Some(TokenTree::Punct(p)) if p.as_char() == mark)
}

/// Whether the item of this keyword is visible elsewhere.
fn is_public(tokens: &[TokenTree], at: usize) -> bool {
    let is_pub = |t: Option<&TokenTree>| matches!(t, Some(TokenTree::Ident(w)) if w == "pub");
    at > 0 && is_pub(tokens.get(at - 1)) || at > 1 && is_pub(tokens.get(at - 2))
}

/// The end of an item: behind its `;` or braces.
fn end_of_item(tokens: &[TokenTree], from: usize) -> usize {
    let ends = |t: &TokenTree| {
        is_punct(Some(t), ';')
            || matches!(t, TokenTree::Group(g) if g.delimiter() == Delimiter::Brace)
    };
    tokens[from.min(tokens.len())..].iter().position(ends).map_or(tokens.len(), |n| from + n + 1)
}

/// The path `a::b::c` that begins here, and where it ends.
fn path_at(tokens: &[TokenTree], from: usize) -> (Vec<String>, usize) {
    let mut path = Vec::new();
    let mut i = from;
    while let Some(TokenTree::Ident(word)) = tokens.get(i) {
        path.push(word.to_string());
        i += 1;
        let goes_on = is_punct(tokens.get(i), ':') && is_punct(tokens.get(i + 1), ':');
        if !goes_on || !matches!(tokens.get(i + 2), Some(TokenTree::Ident(_))) {
            break;
        }
        i += 2;
    }
    (path, i)
}

/// Records the names of a `use`.
fn import(tokens: &[TokenTree], module: &mut Module, public: bool) {
    let mut leaves = Vec::new();
    tree(tokens, &mut Vec::new(), &mut leaves);
    for (path, name) in leaves {
        if name == "*" {
            module.globs.push(path);
            continue;
        }
        if !public {
            module.paths.insert(path.clone());
        }
        module.uses.insert(name, path);
    }
}

/// The leaves of a tree of imports, each with the name that it gets.
fn tree(tokens: &[TokenTree], prefix: &mut Vec<String>, leaves: &mut Vec<(Vec<String>, String)>) {
    let depth = prefix.len();
    let mut renamed = None;
    let mut i = 0;
    let mut open = false;
    let mut close = |prefix: &mut Vec<String>, renamed: Option<String>, open: &mut bool| {
        if std::mem::take(open) {
            if prefix.last().is_some_and(|last| last == "self") && prefix.len() > 1 {
                prefix.pop();
            }
            let name = renamed.or_else(|| prefix.last().cloned()).unwrap_or_default();
            leaves.push((prefix.clone(), name));
        }
        prefix.truncate(depth);
    };
    let mut groups = Vec::new();
    while i < tokens.len() {
        match &tokens[i] {
            TokenTree::Ident(word) if word == "as" => {
                renamed = tokens.get(i + 1).map(ToString::to_string);
                i += 1;
            }
            TokenTree::Ident(word) => {
                prefix.push(word.to_string());
                open = true;
            }
            TokenTree::Punct(p) if p.as_char() == ',' => close(prefix, renamed.take(), &mut open),
            TokenTree::Punct(p) if p.as_char() == '*' => {
                renamed = Some("*".to_owned());
                open = true;
            }
            TokenTree::Group(group) => {
                groups.push((prefix.clone(), group.stream().into_iter().collect::<Vec<_>>()));
                open = false;
            }
            _ => {}
        }
        i += 1;
    }
    close(prefix, renamed, &mut open);
    for (mut inner, tokens) in groups {
        tree(&tokens, &mut inner, leaves);
    }
}

/// The lines of a file that rustfmt leaves unchanged: those with texts in quotes, attributes, and arguments of
/// macros.
pub(crate) fn left_alone(text: &str) -> BTreeSet<usize> {
    let tokens: TokenStream = text.parse().expect("Rust");
    let mut lines = BTreeSet::new();
    left(tokens, &mut lines);
    lines
}

fn left(tokens: TokenStream, lines: &mut BTreeSet<usize>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    for (i, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Literal(literal) if literal.to_string().contains('"') => {
                lines.extend(literal.span().start().line..=literal.span().end().line);
            }
            TokenTree::Group(group) => {
                let before = |n: usize| i.checked_sub(n).and_then(|i| tokens.get(i));
                // `name!(...)`, `macro_rules! name {...}`, `#[...]`
                let whole = is_punct(before(1), '!') || is_punct(before(2), '!');
                if whole || is_punct(before(1), '#') {
                    lines.extend(group.span().start().line..=group.span().end().line);
                } else {
                    left(group.stream(), lines);
                }
            }
            _ => {}
        }
    }
}
