//! The words and signs of GOAL.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    Word(&'a [u8]),
    /// One of the signs `:{}`.
    Sign(u8),
    Newline,
    End,
}

pub(super) struct Lexer<'a> {
    pub(super) text: &'a [u8],
    pub(super) at: usize,
    pub(super) line: usize,
}

impl<'a> Lexer<'a> {
    pub(super) fn next(&mut self) -> Token<'a> {
        loop {
            let rest = &self.text[self.at..];
            match rest {
                [] => return Token::End,
                [b'\n', ..] => {
                    self.at += 1;
                    self.line += 1;
                    return Token::Newline;
                }
                [b' ' | b'\t' | b'\r', ..] => self.at += 1,
                [b'/', b'/', ..] => {
                    self.at += rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len());
                }
                [b'/', b'*', ..] => {
                    let end = rest.windows(2).position(|w| w == b"*/");
                    let skipped = end.map_or(rest.len(), |end| end + 2);
                    self.line += rest[..skipped].iter().filter(|&&b| b == b'\n').count();
                    self.at += skipped;
                }
                [sign @ (b':' | b'{' | b'}'), ..] => {
                    self.at += 1;
                    return Token::Sign(*sign);
                }
                _ => {
                    let ends = |b: &u8| {
                        matches!(b, b' ' | b'\t' | b'\r' | b'\n' | b':' | b'{' | b'}' | b'/')
                    };
                    let len = rest[1..].iter().position(ends).map_or(rest.len(), |n| n + 1);
                    self.at += len;
                    return Token::Word(&rest[..len]);
                }
            }
        }
    }
}

pub(super) fn number(word: &[u8]) -> Option<u64> {
    if word.is_empty() || word.len() > 20 {
        return None;
    }
    word.iter().try_fold(0u64, |n, b| {
        b.is_ascii_digit().then_some(())?;
        n.checked_mul(10)?.checked_add(u64::from(b - b'0'))
    })
}

pub(super) fn shown(token: Token<'_>) -> String {
    match token {
        Token::Word(word) => {
            format!("`{}`", darkfiber_formats::excerpt(&String::from_utf8_lossy(word)))
        }
        Token::Sign(sign) => format!("`{}`", char::from(sign)),
        Token::Newline => "the end of the line".to_owned(),
        Token::End => "the end of the file".to_owned(),
    }
}

/// The hash of Fowler, Noll and Vo: labels are short, and there are many.
#[derive(Default)]
pub(super) struct Fnv(u64);

impl std::hash::Hasher for Fnv {
    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 32
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}
