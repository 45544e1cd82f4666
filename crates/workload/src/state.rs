//! Changing state of simulations, to be saved and resumed.

/// Declares the changing state of a simulation type as a separate type, which can be written, read, and swapped in. After the
/// semicolon, fields that have such a state themselves.
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
        /// The state that changes during simulation.
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
