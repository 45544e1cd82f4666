//! How zsh asks. It quotes what it completes by itself, so that it asks with words without quotes; a `~` it completes alone.

use clap_complete::env::{EnvCompleter, Zsh};

use super::shell::Shell;

/// Zsh.
pub(super) const ZSH: Shell = Shell {
    name: "zsh",
    script: SCRIPT,
    answer: |command, asked, here, out| Zsh.write_complete(command, asked.to_vec(), here, out),
};

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
