//! Methods of dates in JavaScript.

use crate::model::class::Row;

pub(crate) const METHODS: &[Row] = &[];
