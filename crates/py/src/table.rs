//! A table in columns: for NumPy, and for readers of Arrow (pyarrow, Polars, pandas, DuckDB).

use std::fmt::Write as _;

use arrow_array::cast::AsArray;
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, to_ffi};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::{Float64Type, UInt64Type};
use arrow_array::{Array, RecordBatch, RecordBatchIterator, StructArray};
use arrow_schema::{ArrowError, DataType};
use numpy::PyArray1;
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyList};

use crate::columns::Columns;
use crate::error::bug;
use crate::text::shown;
use crate::view::view;

/// Rows that a notebook shows.
const SHOWN: usize = 20;

/// A table in columns.
///
/// `table["bytes"]` is a NumPy array, a view where no number is missing; `pyarrow.table(table)`, `polars.DataFrame(table)` and
/// `pandas.DataFrame(table.to_dict())` take all of it.
#[pyclass(frozen, module = "darkfiber")]
pub(crate) struct Table {
    batch: RecordBatch,
}

impl Table {
    /// A table of these columns.
    pub(crate) fn of(py: Python<'_>, columns: Columns) -> PyResult<Self> {
        let batch = columns.batch().map_err(|e| of_arrow(py, &e))?;
        Ok(Self { batch })
    }

    fn names(&self) -> Vec<String> {
        self.batch.schema().fields().iter().map(|field| field.name().clone()).collect()
    }

    fn place(&self, name: &str) -> PyResult<usize> {
        self.batch.schema().index_of(name).map_err(|_| {
            PyKeyError::new_err(format!("no column {name}; there are {}", self.names().join(", ")))
        })
    }

    /// A cell as Python's own value.
    fn cell<'py>(&self, py: Python<'py>, column: usize, row: usize) -> PyResult<Bound<'py, PyAny>> {
        let column = self.batch.column(column);
        if column.is_null(row) {
            return Ok(py.None().into_bound(py));
        }
        Ok(match column.data_type() {
            DataType::UInt64 => {
                column.as_primitive::<UInt64Type>().value(row).into_pyobject(py)?.into_any()
            }
            DataType::Float64 => {
                column.as_primitive::<Float64Type>().value(row).into_pyobject(py)?.into_any()
            }
            DataType::Boolean => {
                column.as_boolean().value(row).into_pyobject(py)?.to_owned().into_any()
            }
            _ => column.as_string::<i32>().value(row).into_pyobject(py)?.into_any(),
        })
    }

    fn list<'py>(&self, py: Python<'py>, column: usize) -> PyResult<Bound<'py, PyList>> {
        let cells = (0..self.batch.num_rows()).map(|row| {
            heed(py, row)?;
            self.cell(py, column, row)
        });
        PyList::new(py, cells.collect::<PyResult<Vec<_>>>()?)
    }

    fn structs(&self) -> StructArray {
        self.batch.clone().into()
    }
}

/// Looks for Ctrl-C every now and then: making values of Python holds its lock.
fn heed(py: Python<'_>, row: usize) -> PyResult<()> {
    if row.is_multiple_of(4096) { py.check_signals() } else { Ok(()) }
}

fn of_arrow(py: Python<'_>, error: &ArrowError) -> PyErr {
    bug(py, &error.to_string())
}

#[pymethods]
impl Table {
    /// Names of the columns.
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.names()
    }

    fn __len__(&self) -> usize {
        self.batch.num_rows()
    }

    fn __contains__(&self, name: &Bound<'_, PyAny>) -> bool {
        name.extract::<String>().is_ok_and(|name| self.place(&name).is_ok())
    }

    /// A column as a NumPy array: a view where it has numbers and none is missing, otherwise a copy with NaN for numbers that are
    /// missing; of objects where it has names.
    fn __getitem__<'py>(slf: &Bound<'py, Self>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let (py, this) = (slf.py(), slf.get());
        let place = this.place(name)?;
        let column = this.batch.column(place);
        let is_whole = column.null_count() == 0;
        Ok(match column.data_type() {
            DataType::UInt64 if is_whole => {
                view(slf, |t| t.batch.column(place).as_primitive::<UInt64Type>().values())
                    .into_any()
            }
            DataType::Float64 if is_whole => {
                view(slf, |t| t.batch.column(place).as_primitive::<Float64Type>().values())
                    .into_any()
            }
            DataType::Boolean if is_whole => {
                let yes: Vec<bool> = column.as_boolean().values().iter().collect();
                PyArray1::from_vec(py, yes).into_any()
            }
            DataType::UInt64 => {
                let numbers = column.as_primitive::<UInt64Type>().iter();
                let all = numbers.map(|n| n.map_or(f64::NAN, |n| n as f64)).collect();
                PyArray1::from_vec(py, all).into_any()
            }
            DataType::Float64 => {
                let numbers = column.as_primitive::<Float64Type>().iter();
                PyArray1::from_vec(py, numbers.map(|n| n.unwrap_or(f64::NAN)).collect()).into_any()
            }
            _ => {
                let options = PyDict::new(py);
                options.set_item("dtype", "object")?;
                let numpy = PyModule::import(py, "numpy")?;
                numpy.call_method("array", (this.list(py, place)?,), Some(&options))?
            }
        })
    }

    /// All columns as lists of Python's own values, by name.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let all = PyDict::new(py);
        for (place, name) in self.names().iter().enumerate() {
            all.set_item(name, self.list(py, place)?)?;
        }
        Ok(all)
    }

    /// The rows, each a dictionary.
    fn rows<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let names = self.names();
        let row = |row: usize| {
            heed(py, row)?;
            let cells = PyDict::new(py);
            for (place, name) in names.iter().enumerate() {
                cells.set_item(name, self.cell(py, place, row)?)?;
            }
            Ok(cells)
        };
        (0..self.batch.num_rows()).map(row).collect()
    }

    /// The schema, as the Arrow PyCapsule interface has it.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(self.batch.schema().as_ref());
        PyCapsule::new_with_value(py, schema.map_err(|e| of_arrow(py, &e))?, c"arrow_schema")
    }

    /// The table as one array of structures, as the Arrow PyCapsule interface has it; nothing is copied.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
        // The interface allows us to ignore the requested schema.
        drop(requested_schema);
        let (array, schema): (FFI_ArrowArray, FFI_ArrowSchema) =
            to_ffi(&self.structs().to_data()).map_err(|e| of_arrow(py, &e))?;
        Ok((
            PyCapsule::new_with_value(py, schema, c"arrow_schema")?,
            PyCapsule::new_with_value(py, array, c"arrow_array")?,
        ))
    }

    /// The table as a stream of one batch, as the Arrow PyCapsule interface has it; nothing is copied.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        let batches = RecordBatchIterator::new([Ok(self.batch.clone())], self.batch.schema());
        let stream = FFI_ArrowArrayStream::new(Box::new(batches));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    fn __repr__(&self) -> String {
        format!("<darkfiber.Table of {} rows: {}>", self.batch.num_rows(), self.names().join(", "))
    }

    /// The first rows, in a notebook.
    fn _repr_html_(&self, py: Python<'_>) -> PyResult<String> {
        let mut html = String::from("<table><thead><tr>");
        for name in self.names() {
            let _infallible = write!(html, "<th>{}</th>", escaped(&name));
        }
        html.push_str("</tr></thead><tbody>");
        let rows = self.batch.num_rows();
        for row in 0..rows.min(SHOWN) {
            html.push_str("<tr>");
            for column in 0..self.batch.num_columns() {
                let cell = self.cell(py, column, row)?;
                let text = if cell.is_none() { String::new() } else { shown(&cell)? };
                let _infallible = write!(html, "<td>{}</td>", escaped(&text));
            }
            html.push_str("</tr>");
        }
        html.push_str("</tbody></table>");
        if rows > SHOWN {
            let _infallible = write!(html, "<p>{SHOWN} of {rows} rows</p>");
        }
        Ok(html)
    }
}

/// A text escaped for HTML.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
