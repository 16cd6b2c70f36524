//! `org.json`: objects and arrays of JSON.

/// Methods of a class: those that read a value of a type by `get!` and `opt!`, which the class has, and its own.
macro_rules! readers {
    ($($own:expr),* $(,)?) => {
        &[
            row("get", 1, get!(Any)),
            row("getString", 1, get!(Text)),
            row("getInt", 1, get!(Int)),
            row("getLong", 1, get!(Long)),
            row("getDouble", 1, get!(Double)),
            row("getBoolean", 1, get!(Bool)),
            row("getJSONObject", 1, get!(Object)),
            row("getJSONArray", 1, get!(Array)),
            rows("opt", 1, 2, opt!(Any)),
            rows("optString", 1, 2, opt!(Text)),
            rows("optInt", 1, 2, opt!(Int)),
            rows("optLong", 1, 2, opt!(Long)),
            rows("optDouble", 1, 2, opt!(Double)),
            rows("optBoolean", 1, 2, opt!(Bool)),
            row("optJSONObject", 1, opt!(Object)),
            row("optJSONArray", 1, opt!(Array)),
            $($own),*
        ]
    };
}

pub(crate) mod array;
pub(crate) mod object;
pub(crate) mod part;
