//! What Python sees. A panic ends here as a `CoreError`.

use std::any::Any;
use std::collections::HashMap;
use std::panic::{catch_unwind, AssertUnwindSafe};

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyIterator, PyList, PyString};

use crate::identifiers::identifiers;
use crate::marks;
use crate::pool::{Field, Kind};
use crate::segment::{Finished, Output, Segment};
use crate::vocabulary::{Analysed, Names, Oracle, Page, Vocabulary};

pyo3::create_exception!(ultracrawl_core, CoreError, PyRuntimeError, "The core has a fault.");

/// The number of what program and core agree on: this module's functions, the terms, and the files of a segment.
const FORMAT: u32 = 2;

#[pymodule]
fn ultracrawl_core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("FORMAT", FORMAT)?;
    module.add("VERSION", env!("CARGO_PKG_VERSION"))?;
    module.add("CoreError", module.py().get_type::<CoreError>())?;
    module.add_function(wrap_pyfunction!(marks_of, module)?)?;
    module.add_class::<PyVocabulary>()?;
    module.add_class::<Words>()?;
    module.add_class::<Pool>()
}

fn guarded<T>(work: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|fault| Err(CoreError::new_err(told(&*fault))))
}

fn told(fault: &(dyn Any + Send)) -> String {
    let text = fault.downcast_ref::<&str>().map(ToString::to_string);
    text.or_else(|| fault.downcast_ref::<String>().cloned()).unwrap_or_default()
}

/// Return the marks of the words of a text in UTF-8, each once, in order and in the machine's order of bytes.
///
/// `others` returns the marks of words with other than ASCII characters.
#[pyfunction]
#[pyo3(name = "marks")]
fn marks_of<'py>(py: Python<'py>, text: &[u8], others: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
    guarded(|| {
        let mut found = Vec::with_capacity(text.len() / 6);
        let rest = marks::marks(text, &mut found);
        if !rest.is_empty() {
            found.extend(others.call1((PyBytes::new(py, &rest),))?.extract::<Vec<u32>>()?);
        }
        found.sort_unstable();
        found.dedup();
        let bytes: Vec<u8> = found.into_iter().flat_map(u32::to_ne_bytes).collect();
        Ok(PyBytes::new(py, &bytes))
    })
}

/// All words that were met; `page`, `lower`, `fold` and `stem` are what the core asks Python.
#[pyclass(name = "Vocabulary")]
struct PyVocabulary {
    vocabulary: Vocabulary,
    functions: Functions,
}

struct Functions {
    page: Py<PyAny>,
    lower: Py<PyAny>,
    fold: Py<PyAny>,
    stem: Py<PyAny>,
}

struct Asked<'a, 'py>(Python<'py>, &'a Functions);

impl Oracle for Asked<'_, '_> {
    type Error = PyErr;

    fn page(&mut self, first: u32) -> PyResult<Page> {
        let (kinds, lower): (Vec<u8>, String) = self.1.page.call1(self.0, (first,))?.extract(self.0)?;
        let lower: Vec<char> = lower.chars().collect();
        match (kinds.try_into(), lower.try_into()) {
            (Ok(kinds), Ok(lower)) => Ok(Page { kinds, lower }),
            _ => Err(PyValueError::new_err("a page has 256 characters")),
        }
    }

    fn lower(&mut self, word: &str) -> PyResult<String> {
        self.1.lower.call1(self.0, (word,))?.extract(self.0)
    }

    fn fold(&mut self, word: &str) -> PyResult<String> {
        self.1.fold.call1(self.0, (word,))?.extract(self.0)
    }

    fn stem(&mut self, language: &str, word: &str) -> PyResult<Option<String>> {
        let stem: String = self.1.stem.call1(self.0, (language, word))?.extract(self.0)?;
        Ok((!stem.is_empty()).then_some(stem))
    }
}

#[pymethods]
impl PyVocabulary {
    #[new]
    fn new(page: Py<PyAny>, lower: Py<PyAny>, fold: Py<PyAny>, stem: Py<PyAny>) -> Self {
        Self { vocabulary: Vocabulary::default(), functions: Functions { page, lower, fold, stem } }
    }

    fn __len__(&self) -> usize {
        self.vocabulary.names().len()
    }

    /// Return the words of each text, and the stem terms of all of them in a language (none for an empty one).
    fn analyse(slf: &Bound<'_, Self>, texts: Vec<Bound<'_, PyString>>, language: &str) -> PyResult<(Vec<Words>, Words)> {
        guarded(|| {
            let mut this = slf.borrow_mut();
            let Self { vocabulary, functions } = &mut *this;
            let (mut words, mut stems) = (Vec::with_capacity(texts.len()), Vec::new());
            for text in texts {
                let mut found = Analysed { words: Vec::new(), stems };
                vocabulary.analyse(text.to_str()?, language, &mut Asked(slf.py(), functions), &mut found)?;
                words.push(Words::new(slf, found.words));
                stems = found.stems;
            }
            Ok((words, Words::new(slf, stems)))
        })
    }

    /// Return the parts of all identifiers in a text, and its operators.
    fn identifiers(slf: &Bound<'_, Self>, text: &str) -> PyResult<Words> {
        guarded(|| {
            let mut this = slf.borrow_mut();
            let Self { vocabulary, functions } = &mut *this;
            let mut found = Vec::new();
            identifiers(vocabulary, text, &mut Asked(slf.py(), functions), &mut found)?;
            Ok(Words::new(slf, found))
        })
    }
}

/// Words of a text, as numbers in their vocabulary.
#[pyclass(frozen)]
struct Words {
    vocabulary: Py<PyVocabulary>,
    numbers: Vec<u32>,
}

impl Words {
    fn new(vocabulary: &Bound<'_, PyVocabulary>, numbers: Vec<u32>) -> Self {
        Self { vocabulary: vocabulary.clone().unbind(), numbers }
    }
}

#[pymethods]
impl Words {
    fn __len__(&self) -> usize {
        self.numbers.len()
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        guarded(|| {
            let vocabulary = self.vocabulary.borrow(py);
            let names = vocabulary.vocabulary.names();
            let words = self.numbers.iter().map(|&number| text(names, number)).collect::<PyResult<Vec<_>>>()?;
            PyList::new(py, words)?.try_iter()
        })
    }

    /// Return the words with blanks between them.
    fn joined(&self, py: Python<'_>) -> PyResult<String> {
        guarded(|| {
            let vocabulary = self.vocabulary.borrow(py);
            let names = vocabulary.vocabulary.names();
            let mut joined = String::with_capacity(8 * self.numbers.len());
            for (at, &number) in self.numbers.iter().enumerate() {
                if at > 0 {
                    joined.push(' ');
                }
                joined.push_str(text(names, number)?);
            }
            Ok(joined)
        })
    }
}

fn text(names: &Names, number: u32) -> PyResult<&str> {
    Ok(std::str::from_utf8(names.get(number))?)
}

/// The postings of a new segment; document numbers never fall.
#[pyclass]
struct Pool {
    vocabulary: Py<PyVocabulary>,
    fields: HashMap<String, Field>,
    /// The terms of fields of values, which few documents share.
    values: Names,
}

#[pymethods]
impl Pool {
    #[new]
    fn new(vocabulary: Py<PyVocabulary>) -> Self {
        Self { vocabulary, fields: HashMap::new(), values: Names::default() }
    }

    /// Add the words of texts, with a gap between the positions of two texts, and return their number.
    fn add_texts(&mut self, field: &str, document: u32, texts: Vec<Bound<'_, PyAny>>) -> PyResult<usize> {
        guarded(|| {
            let (mut count, mut start) = (0, 0);
            for words in texts {
                let numbers = Numbers::of(&words, &self.vocabulary)?;
                let field = of_kind(&mut self.fields, field, Kind::Positions)?;
                for (position, &number) in (start..).zip(numbers.get()) {
                    field.add(number, document, position);
                }
                count += numbers.get().len();
                start += numbers.get().len() as u32 + 1;
            }
            Ok(count)
        })
    }

    /// Add words with their frequencies only.
    fn add_counted(&mut self, field: &str, document: u32, words: Bound<'_, PyAny>) -> PyResult<()> {
        guarded(|| {
            let numbers = Numbers::of(&words, &self.vocabulary)?;
            let field = of_kind(&mut self.fields, field, Kind::Counts)?;
            numbers.get().iter().for_each(|&number| field.add(number, document, 0));
            Ok(())
        })
    }

    /// Add whole values, encoded, as terms without frequencies.
    fn add_values(&mut self, field: &str, document: u32, values: Vec<Bound<'_, PyBytes>>) -> PyResult<()> {
        guarded(|| {
            let field = of_kind(&mut self.fields, field, Kind::Values)?;
            for value in values {
                field.add(self.values.number(value.as_bytes()), document, 0);
            }
            Ok(())
        })
    }

    /// Return the names of the fields that have terms, in the order in which they are written.
    fn fields(&self) -> Vec<String> {
        let with_terms = self.fields.iter().filter(|(_, field)| !field.is_empty());
        let mut names: Vec<String> = with_terms.map(|(name, _)| name.clone()).collect();
        names.sort_unstable();
        names
    }

    /// Write all terms and postings, and empty the pool.
    ///
    /// `lengths` are the length bytes of the documents in each of `fields`, `position` is where the term file goes on,
    /// `terms` and `postings` write to the files. Returns position and slots of each hash table of the term file, and the
    /// position of each entry, in the machine's order of bytes.
    fn write<'py>(
        &mut self,
        py: Python<'py>,
        lengths: Vec<Vec<u8>>,
        position: u64,
        terms: Bound<'py, PyAny>,
        postings: Bound<'py, PyAny>,
    ) -> PyResult<(Vec<(u64, u32)>, Bound<'py, PyBytes>)> {
        guarded(|| {
            let vocabulary = self.vocabulary.borrow(py);
            let mut segment = Segment::new(output(position, &terms), output(0, &postings));
            for ((number, name), lengths) in (0..).zip(self.fields()).zip(lengths) {
                let Some(mut field) = self.fields.remove(&name) else { continue };
                let of_values = field.kind() == Kind::Values;
                let names = if of_values { &self.values } else { vocabulary.vocabulary.names() };
                segment.add_field(number, &mut field, names, &lengths)?;
            }
            let Finished { directory, positions } = segment.finish()?;
            let positions: Vec<u8> = positions.into_iter().flat_map(u64::to_ne_bytes).collect();
            Ok((directory, PyBytes::new(py, &positions)))
        })
    }
}

fn output<'a>(position: u64, write: &'a Bound<'_, PyAny>) -> Output<impl FnMut(&[u8]) -> PyResult<()> + 'a> {
    Output::new(position, |piece: &[u8]| write.call1((PyBytes::new(write.py(), piece),)).map(drop))
}

fn of_kind<'a>(fields: &'a mut HashMap<String, Field>, name: &str, kind: Kind) -> PyResult<&'a mut Field> {
    if !fields.contains_key(name) {
        fields.insert(name.to_string(), Field::new(kind));
    }
    match fields.get_mut(name) {
        Some(field) if field.kind() == kind => Ok(field),
        _ => Err(PyValueError::new_err(format!("field {name} has postings of another kind"))),
    }
}

/// Numbers of words: those of the core, or new ones for any words of Python.
enum Numbers<'py> {
    Of(Bound<'py, Words>),
    New(Vec<u32>),
}

impl<'py> Numbers<'py> {
    fn of(words: &Bound<'py, PyAny>, vocabulary: &Py<PyVocabulary>) -> PyResult<Self> {
        if let Ok(known) = words.cast::<Words>() {
            if known.get().vocabulary.is(vocabulary) {
                return Ok(Self::Of(known.clone()));
            }
        }
        let mut numbers = Vec::new();
        let mut names = Vec::new();
        for word in words.try_iter()? {
            names.push(word?.extract::<String>()?);
        }
        let mut vocabulary = vocabulary.borrow_mut(words.py());
        numbers.extend(names.iter().map(|name| vocabulary.vocabulary.term(name)));
        Ok(Self::New(numbers))
    }

    fn get(&self) -> &[u32] {
        match self {
            Self::Of(words) => &words.get().numbers,
            Self::New(numbers) => numbers,
        }
    }
}
