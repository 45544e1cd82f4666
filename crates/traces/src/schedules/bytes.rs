//! Binary files, piece by piece; missing bytes are reported with their offset.

use std::path::Path;

use darkfiber_formats::ReadError;

/// The unread rest of a file.
#[derive(Clone, Copy)]
pub(super) struct Bytes<'a> {
    all: &'a [u8],
    at: usize,
    path: &'a Path,
    expected: &'static str,
}

impl<'a> Bytes<'a> {
    pub(super) fn new(all: &'a [u8], path: &'a Path, expected: &'static str) -> Self {
        Self { all, at: 0, path, expected }
    }

    pub(super) fn at(&self) -> usize {
        self.at
    }

    pub(super) fn left(&self) -> usize {
        self.all.len() - self.at
    }

    /// Goes to a place in the file.
    pub(super) fn seek(&mut self, to: u64, what: &str) -> Result<(), ReadError> {
        match usize::try_from(to) {
            Ok(to) if to <= self.all.len() => {
                self.at = to;
                Ok(())
            }
            _ => {
                let len = self.all.len();
                Err(self
                    .fail(format!("{what} would be at byte {to}, but the file has {len} bytes")))
            }
        }
    }

    pub(super) fn take(&mut self, count: usize, what: &str) -> Result<&'a [u8], ReadError> {
        if count > self.left() {
            let left = self.left();
            return Err(self.fail(format!("the file ends within {what}: {left} bytes of {count}")));
        }
        let taken = &self.all[self.at..self.at + count];
        self.at += count;
        Ok(taken)
    }

    pub(super) fn array<const N: usize>(&mut self, what: &str) -> Result<[u8; N], ReadError> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N, what)?);
        Ok(array)
    }

    pub(super) fn u8(&mut self, what: &str) -> Result<u8, ReadError> {
        self.array::<1>(what).map(|[byte]| byte)
    }

    /// An error at the place where we are.
    pub(super) fn fail(&self, what: impl std::fmt::Display) -> ReadError {
        let what = format!("byte {}: {what}", self.at);
        ReadError::not_such(self.path, what, self.expected, "is the file cut off or damaged?")
    }
}
