//! Python functions as scalar functions of SQL.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use ::arrow::array::Array;
use ::arrow::datatypes::{DataType, FieldRef};
use datafusion::common::exec_err;
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::{
    ColumnarValue, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

use crate::arrow;

#[derive(Debug)]
struct PythonFunction {
    name: String,
    function: Py<PyAny>,
    signature: Signature,
    returns: FieldRef,
}

impl PartialEq for PythonFunction {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && self.function.as_ptr() == other.function.as_ptr() && self.returns == other.returns
    }
}

impl Eq for PythonFunction {}

impl Hash for PythonFunction {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
        self.function.as_ptr().hash(state);
    }
}

impl PythonFunction {
    fn call(&self, py: Python<'_>, args: &ScalarFunctionArgs, rows: usize) -> PyResult<::arrow::array::ArrayRef> {
        let mut arguments = Vec::with_capacity(args.args.len());
        for argument in &args.args {
            let array = argument.to_array(rows).map_err(|e| crate::errors::to_py(py, e.into()))?;
            arguments.push(arrow::array_to_py(py, array.as_ref())?);
        }
        let result = self.function.bind(py).call1(PyTuple::new(py, arguments)?)?;
        arrow::array_from_py(&result)
    }
}

impl ScalarUDFImpl for PythonFunction {
    fn name(&self) -> &str {
        &self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(self.returns.data_type().clone())
    }

    fn return_field_from_args(&self, _: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        Ok(Arc::new(self.returns.as_ref().clone().with_name(&self.name)))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let scalar = !args.args.is_empty() && args.args.iter().all(|a| matches!(a, ColumnarValue::Scalar(_)));
        let rows = if scalar { 1 } else { args.number_rows };
        let outcome = Python::attach(|py| self.call(py, &args, rows));
        let array = outcome.map_err(|cause| {
            let text = Python::attach(|py| cause.value(py).to_string());
            DataFusionError::External(Box::new(cause)).context(format!("function {} failed: {text}", self.name))
        })?;
        if array.data_type() != self.returns.data_type() {
            return exec_err!(
                "function {} returned {}, expected {}",
                self.name,
                array.data_type(),
                self.returns.data_type()
            );
        }
        if !self.returns.is_nullable() && array.null_count() > 0 {
            return exec_err!("function {} returned NULL, but its result is declared NOT NULL", self.name);
        }
        let constant = args.args.is_empty() && array.len() == 1;
        if array.len() != rows && !constant {
            return exec_err!("function {} returned {} rows, expected {rows}", self.name, array.len());
        }
        if scalar || constant {
            return Ok(ColumnarValue::Scalar(datafusion::common::ScalarValue::try_from_array(&array, 0)?));
        }
        Ok(ColumnarValue::Array(array))
    }
}

/// A Python function that SQL can call. It gets one `pyarrow.Array` per parameter and returns one.
#[pyclass(module = "pypaimon_rust.datafusion", name = "PythonScalarUDF", frozen)]
pub(crate) struct PyScalarUdf {
    pub(crate) function: ScalarUDF,
}

#[pymethods]
impl PyScalarUdf {
    /// A function with this name, parameter types, result type and volatility (`immutable`, `stable` or `volatile`).
    #[new]
    fn new(
        name: String,
        func: &Bound<'_, PyAny>,
        input_fields: &Bound<'_, PyAny>,
        return_field: &Bound<'_, PyAny>,
        volatility: &str,
    ) -> PyResult<Self> {
        if !func.is_callable() {
            return Err(PyTypeError::new_err("the function is not callable"));
        }
        let volatility = match volatility.to_ascii_lowercase().as_str() {
            "immutable" => Volatility::Immutable,
            "stable" => Volatility::Stable,
            "volatile" => Volatility::Volatile,
            other => {
                let message = format!("the volatility must be immutable, stable or volatile, but is '{other}'");
                return Err(PyTypeError::new_err(message));
            }
        };
        let parameters: Vec<DataType> =
            if input_fields.is_instance_of::<PyList>() || input_fields.is_instance_of::<PyTuple>() {
                let fields = input_fields.try_iter()?.map(|f| arrow::field_from_py(&f?));
                fields.map(|f| f.map(|f| f.data_type().clone())).collect::<PyResult<_>>()?
            } else {
                vec![arrow::field_from_py(input_fields)?.data_type().clone()]
            };
        let signature = if parameters.is_empty() {
            Signature::nullary(volatility)
        } else {
            Signature::exact(parameters, volatility)
        };
        let function = PythonFunction {
            name: name.to_lowercase(),
            function: func.clone().unbind(),
            signature,
            returns: Arc::new(arrow::field_from_py(return_field)?),
        };
        Ok(Self { function: ScalarUDF::new_from_impl(function) })
    }

    /// As `pypaimon_rust.datafusion.udf`.
    #[staticmethod]
    #[pyo3(signature = (func, input_fields, return_field, volatility, name=None))]
    fn udf(
        func: &Bound<'_, PyAny>,
        input_fields: &Bound<'_, PyAny>,
        return_field: &Bound<'_, PyAny>,
        volatility: &str,
        name: Option<String>,
    ) -> PyResult<Self> {
        udf(func, input_fields, return_field, volatility, name)
    }

    /// The name that SQL finds it under.
    #[getter]
    fn name(&self) -> &str {
        self.function.name()
    }

    fn __repr__(&self) -> String {
        format!("PythonScalarUDF({})", self.function.name())
    }
}

/// A scalar function of SQL made of a Python function; without name the function's own, in lower case.
#[pyfunction]
#[pyo3(signature = (func, input_fields, return_field, volatility, name=None))]
pub(crate) fn udf(
    func: &Bound<'_, PyAny>,
    input_fields: &Bound<'_, PyAny>,
    return_field: &Bound<'_, PyAny>,
    volatility: &str,
    name: Option<String>,
) -> PyResult<PyScalarUdf> {
    let name = match name {
        Some(name) => name,
        None => match func.getattr("__name__") {
            Ok(own) => own.extract::<String>()?.trim_matches(['<', '>']).to_lowercase(),
            Err(_) => func.get_type().name()?.to_string().to_lowercase(),
        },
    };
    PyScalarUdf::new(name, func, input_fields, return_field, volatility)
}
