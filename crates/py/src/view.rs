//! Arrays that are views into the data of an object: nothing is copied, and they are read-only.

use numpy::ndarray::{ArrayView1, ArrayView2};
use numpy::{Element, PyArray1, PyArray2, PyArrayMethods};
use pyo3::PyClass;
use pyo3::prelude::*;
use pyo3::pyclass::boolean_struct::True;

/// A view into numbers of a frozen object, which lives as long as the view.
#[expect(unsafe_code, reason = "NumPy keeps a pointer into the object, and the object beside it")]
pub(crate) fn view<'py, C, T>(
    owner: &Bound<'py, C>,
    of: impl for<'a> FnOnce(&'a C) -> &'a [T],
) -> Bound<'py, PyArray1<T>>
where
    C: PyClass<Frozen = True> + Sync,
    T: Element,
{
    let values = ArrayView1::from(of(owner.get()));
    // SAFETY: the numbers are borrowed from an object that cannot be changed (it is frozen, and lends them for as long as it lives);
    // the array holds a reference to it, and is made read-only before it is visible.
    let array = unsafe { PyArray1::borrow_from_array(&values, owner.clone().into_any()) };
    array.readwrite().make_nonwriteable();
    array
}

/// The same in rows of a length; empty if the last one is incomplete.
#[expect(unsafe_code, reason = "as above")]
pub(crate) fn view_rows<'py, C, T>(
    owner: &Bound<'py, C>,
    length: usize,
    of: impl for<'a> FnOnce(&'a C) -> &'a [T],
) -> Option<Bound<'py, PyArray2<T>>>
where
    C: PyClass<Frozen = True> + Sync,
    T: Element,
{
    let values = of(owner.get());
    let rows = values.len().checked_div(length).unwrap_or(0);
    let values = ArrayView2::from_shape((rows, length), values).ok()?;
    // SAFETY: as in `view`.
    let array = unsafe { PyArray2::borrow_from_array(&values, owner.clone().into_any()) };
    array.readwrite().make_nonwriteable();
    Some(array)
}
