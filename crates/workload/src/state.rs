//! What changes while something is simulated, to be kept and gone on from.

/// Declares what of a type changes while it is simulated, as a type of its own: which can be written, read, and changed places
/// with. Behind the semicolon, fields that have such a state of their own.
///
/// `state! { pub(crate) struct QueueState of() Queue<'_> { first: u32, ; wheel: WheelState, } }`
#[macro_export]
macro_rules! state {
    (
        $visible:vis struct $state:ident of($($generic:ident),*) $owner:ty {
            $($field:ident: $type:ty,)*
            $(; $($inner:ident: $inner_type:ty,)*)?
        }
    ) => {
        /// What changes of it while it is simulated.
        #[derive(Debug, Default, serde::Serialize, serde::Deserialize)]
        $visible struct $state {
            $($field: $type,)*
            $($($inner: $inner_type,)*)?
        }

        impl<$($generic),*> $owner {
            /// Changes places with another state of it.
            $visible fn swap(&mut self, state: &mut $state) {
                $(std::mem::swap(&mut self.$field, &mut state.$field);)*
                $($(self.$inner.swap(&mut state.$inner);)*)?
            }
        }
    };
}
