//! How zsh asks. It quotes what it completes by itself, so that it asks with words without quotes; a `~` it completes alone.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::Path;

use clap::Command;
use clap_complete::env::{EnvCompleter, Zsh as Answer};

/// Zsh.
pub(super) struct Zsh;

/// The function that asks. Behind folders, families and keys no blank is added.
const SCRIPT: &str = r#"#compdef darkfiber
_darkfiber() {
    if [[ $PREFIX == '~'* ]]; then
        _files
        return
    fi
    local -a offered open whole
    offered=("${(@f)$(DARKFIBER_COMPLETE=zsh _CLAP_IFS=$'\n' _CLAP_COMPLETE_INDEX=$((CURRENT - 1)) \
        command "${(Q)words[1]/#\~/$HOME}" -- "${(@Q)words[1,CURRENT-1]}" "${(Q)PREFIX}" 2> /dev/null)}")
    local candidate value
    for candidate in $offered; do
        # A colon of the value itself stands behind a backslash.
        value=${${candidate//\\:/$'\1'}%%:*}
        if [[ $value == *[=/,$'\1'] ]]; then
            open+=("$candidate")
        else
            whole+=("$candidate")
        fi
    done
    [[ -n $open ]] && _describe -V 'values' open -S ''
    [[ -n $whole ]] && _describe -V 'values' whole
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    _darkfiber "$@"
else
    compdef _darkfiber darkfiber
fi
"#;

impl EnvCompleter for Zsh {
    fn name(&self) -> &'static str {
        "zsh"
    }

    fn is(&self, name: &str) -> bool {
        name == "zsh"
    }

    fn write_registration(
        &self,
        _var: &str,
        _name: &str,
        _bin: &str,
        _completer: &str,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        out.write_all(SCRIPT.as_bytes())
    }

    fn write_complete(
        &self,
        command: &mut Command,
        asked: Vec<OsString>,
        current_dir: Option<&Path>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        Answer.write_complete(command, asked, current_dir, out)
    }
}
