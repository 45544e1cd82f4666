//! Charts of tables made by hand.
