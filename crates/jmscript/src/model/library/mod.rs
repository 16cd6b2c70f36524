//! The classes that scripts know, a file for each: `lang::string` is `java.lang.String`, and so on. Who adds one writes its file
//! and names it in [`ALL`].

pub(crate) mod commons;
pub(crate) mod constant;
pub(crate) mod functions;
pub(crate) mod groovy;
pub(crate) mod io;
pub(crate) mod javascript;
pub(crate) mod jmeter;
pub(crate) mod jwt;
pub(crate) mod lang;
pub(crate) mod math;
pub(crate) mod net;
pub(crate) mod org_json;
pub(crate) mod regex;
pub(crate) mod security;
pub(crate) mod text;
pub(crate) mod time;
pub(crate) mod util;

use crate::dialect::Dialect;
use crate::model::abrupt::Run;
use crate::model::class::{Class, Kind, Method};
use crate::model::machine::Machine;
use crate::model::tree::Binding;
use crate::model::value::{ListKind, MapKind, Value};
use std::rc::Rc;

/// All of them. Of two with one name the first is the one that a name alone means.
pub(crate) static ALL: &[&Kind] = &[
    &lang::object::KIND,
    &lang::class::KIND,
    &lang::string::KIND,
    &lang::char_sequence::KIND,
    &lang::character::KIND,
    &lang::boolean::KIND,
    &lang::number::KIND,
    &lang::number::INTEGER,
    &lang::number::LONG,
    &lang::number::DOUBLE,
    &lang::number::FLOAT,
    &lang::number::SHORT,
    &lang::number::BYTE,
    &lang::math::KIND,
    &lang::string_builder::KIND,
    &lang::string_builder::BUFFER,
    &lang::system::KIND,
    &lang::thread::KIND,
    &lang::throwable::KIND,
    &lang::array::KIND,
    &lang::bytes::KIND,
    &constant::KIND,
    &math::big_decimal::KIND,
    &math::big_integer::KIND,
    &math::rounding_mode::KIND,
    &util::list::KIND,
    &util::list::LIST,
    &util::list::LINKED,
    &util::list::VECTOR,
    &util::list::STACK,
    &util::list::COPY_ON_WRITE,
    &util::collection::KIND,
    &util::iterable::KIND,
    &util::iterator::KIND,
    &util::range::KIND,
    &util::map::MAP,
    &util::map::KIND,
    &util::map::HASH,
    &util::map::TREE,
    &util::map::HASHTABLE,
    &util::map::PROPERTIES,
    &util::map::CONCURRENT,
    &util::map::JSON,
    &util::entry::KIND,
    &util::set::SET,
    &util::set::KIND,
    &util::set::HASH,
    &util::set::TREE,
    &util::collections::KIND,
    &util::arrays::KIND,
    &util::objects::KIND,
    &util::random::KIND,
    &util::random::SECURE,
    &util::random::THREAD_LOCAL,
    &util::time_unit::KIND,
    &util::uuid::KIND,
    &util::date::KIND,
    &util::calendar::KIND,
    &util::calendar::GREGORIAN,
    &util::time_zone::KIND,
    &util::locale::KIND,
    &util::base64::KIND,
    &util::base64::ENCODER,
    &util::base64::DECODER,
    &regex::pattern::KIND,
    &regex::matcher::KIND,
    &text::simple_date_format::KIND,
    &text::simple_date_format::DATE_FORMAT,
    &text::decimal_format::KIND,
    &time::temporal::KIND,
    &time::local_date::KIND,
    &time::local_time::KIND,
    &time::local_date_time::KIND,
    &time::zoned_date_time::KIND,
    &time::zoned_date_time::OFFSET,
    &time::instant::KIND,
    &time::zone::KIND,
    &time::zone::OFFSET,
    &time::duration::KIND,
    &time::date_time_formatter::KIND,
    &time::chrono_unit::KIND,
    &io::file::KIND,
    &io::writer::KIND,
    &io::writer::FILE_STREAM,
    &io::writer::BUFFERED,
    &io::writer::PRINT,
    &io::writer::STREAM_WRITER,
    &io::writer::PRINT_STREAM,
    &io::reader::KIND,
    &io::reader::STREAM,
    &io::reader::OF_TEXT,
    &io::bytes::STRING_WRITER,
    &io::bytes::OUTPUT,
    &io::bytes::OUTPUT_STREAM,
    &io::bytes::INPUT_STREAM,
    &io::bytes::INPUT,
    &util::zip::GZIP_OUTPUT,
    &util::zip::GZIP_INPUT,
    &util::zip::DEFLATER_OUTPUT,
    &util::zip::INFLATER_INPUT,
    &util::zip::DEFLATER,
    &util::zip::INFLATER,
    &io::reader::BUFFERED,
    &security::digest::KIND,
    &security::mac::KIND,
    &security::cipher::KIND,
    &security::cipher::IV,
    &security::cipher::GCM,
    &security::mac::SECRET,
    &net::url_coder::ENCODER,
    &net::url_coder::DECODER,
    &net::charset::KIND,
    &net::charset::STANDARD,
    &commons::codec_base64::KIND,
    &commons::hex::KIND,
    &commons::digest_utils::KIND,
    &commons::random_string_utils::KIND,
    &commons::string_utils::KIND,
    &groovy::closure::KIND,
    &lang::gstring::KIND,
    &lang::gstring::IMPL,
    &groovy::enumeration::KIND,
    &groovy::enumeration::CONSTANT,
    &groovy::time_category::KIND,
    &groovy::time_category::BASE,
    &groovy::time_category::DURATION,
    &groovy::time_category::TIME,
    &groovy::time_category::DATUM,
    &groovy::time_category::TIME_DATUM,
    &groovy::time_category::FROM,
    &groovy::xml_slurper::KIND,
    &groovy::xml_slurper::RESULT,
    &groovy::xml_slurper::ATTRIBUTES,
    &groovy::xml_slurper::PATH,
    &groovy::xml_slurper::NODE,
    &groovy::json_slurper::KIND,
    &groovy::json_slurper::CLASSIC,
    &groovy::json_output::KIND,
    &groovy::json_builder::KIND,
    &jwt::builder::KIND,
    &jwt::builder::BUILDER,
    &jwt::keys::ALGORITHM,
    &jwt::keys::KEYS,
    &jwt::keys::DECODERS,
    &jwt::keys::DECODER,
    &org_json::object::KIND,
    &org_json::array::KIND,
    &org_json::part::NULL,
    &jmeter::utils::KIND,
    &jmeter::ctx::SERVICE,
    &jmeter::ctx::ACTION,
    &jmeter::ctx::KIND,
    &jmeter::vars::KIND,
    &jmeter::props::KIND,
    &jmeter::log::KIND,
    &jmeter::out::KIND,
    &jmeter::sample_result::KIND,
    &jmeter::sample_event::KIND,
    &jmeter::assertion_result::KIND,
    &jmeter::sampler::KIND,
    &jmeter::arguments::KIND,
    &jmeter::arguments::OF_SAMPLER,
    &jmeter::argument::KIND,
    &jmeter::argument::HTTP,
    &jmeter::argument::HEADER,
    &jmeter::header_manager::KIND,
    &jmeter::cookie_manager::KIND,
    &jmeter::cookie::KIND,
    &jmeter::thread_group::KIND,
    &jmeter::thread_counts::KIND,
    &jmeter::engine::KIND,
    &jmeter::file_server::KIND,
    &jmeter::binding::KIND,
    &jmeter::bsh::KIND,
    &javascript::json::KIND,
    &javascript::array::KIND,
];

impl Value {
    /// The table of its methods.
    pub(crate) fn kind(&self) -> &'static Kind {
        match self {
            Value::Null | Value::Void => &lang::object::KIND,
            Value::Bool(_) => &lang::boolean::KIND,
            Value::Int(_) => &lang::number::INTEGER,
            Value::Long(_) => &lang::number::LONG,
            Value::Big(_) => &math::big_integer::KIND,
            Value::Float(_) => &lang::number::FLOAT,
            Value::Double(_) => &lang::number::DOUBLE,
            Value::Decimal(_) => &math::big_decimal::KIND,
            Value::Char(_) => &lang::character::KIND,
            Value::Text(_) => &lang::string::KIND,
            Value::Template(_) | Value::Lazy(_) => &lang::gstring::IMPL,
            Value::Bytes(_) => &lang::bytes::KIND,
            Value::List(list) => match list.kind {
                ListKind::List => &util::list::KIND,
                ListKind::Array => &lang::array::KIND,
                ListKind::Set => &util::set::KIND,
            },
            Value::Map(map) => match map.kind {
                MapKind::Plain => &util::map::KIND,
                MapKind::Json => &util::map::JSON,
                MapKind::Sorted => &util::map::TREE,
            },
            Value::Range(_) => &util::range::KIND,
            Value::Closure(_) => &groovy::closure::KIND,
            Value::Class(_) => &lang::class::KIND,
            Value::Bound(binding) => bound(*binding).expect("names of values are read as their values"),
            Value::Object(object) => object.class().kind(),
        }
    }

    /// Its class.
    pub(crate) fn class(&self) -> Class {
        match self {
            Value::Object(object) => object.class(),
            other => Class::Known(other.kind()),
        }
    }
}

/// The class of a part of the outside world; `None` for the name of a value.
pub(crate) fn bound(binding: Binding) -> Option<&'static Kind> {
    Some(match binding {
        Binding::Vars => &jmeter::vars::KIND,
        Binding::Props => &jmeter::props::KIND,
        Binding::Ctx => &jmeter::ctx::KIND,
        Binding::Log => &jmeter::log::KIND,
        Binding::Out => &jmeter::out::KIND,
        Binding::Prev | Binding::SampleResult => &jmeter::sample_result::KIND,
        Binding::AssertionResult => &jmeter::assertion_result::KIND,
        Binding::Sampler => &jmeter::sampler::KIND,
        Binding::SampleEvent => &jmeter::sample_event::KIND,
        Binding::Bsh => &jmeter::bsh::KIND,
        Binding::Variables => &jmeter::binding::KIND,
        Binding::HeaderManager => &jmeter::header_manager::KIND,
        Binding::CookieManager => &jmeter::cookie_manager::KIND,
        Binding::Arguments => &jmeter::arguments::OF_SAMPLER,
        Binding::ThreadGroup => &jmeter::thread_group::KIND,
        Binding::ThreadCounts => &jmeter::thread_counts::KIND,
        Binding::Thread => &lang::thread::KIND,
        Binding::Engine => &jmeter::engine::KIND,
        Binding::FileServer => &jmeter::file_server::KIND,
        Binding::Parameters
        | Binding::Args
        | Binding::Label
        | Binding::FileName
        | Binding::ResponseData
        | Binding::ResponseCode
        | Binding::ResponseMessage
        | Binding::ResponseHeaders
        | Binding::RequestHeaders
        | Binding::SamplerData
        | Binding::IsSuccess
        | Binding::Failure
        | Binding::FailureMessage
        | Binding::ThreadName => return None,
    })
}

/// The methods that read a property: `getName`, `isName`.
pub(crate) fn getters(name: &str) -> [Option<Method>; 2] {
    let name = capitalized(name);
    [Method::named(&format!("get{name}")), Method::named(&format!("is{name}"))]
}

/// The method that sets a property.
pub(crate) fn setter(name: &str) -> Option<Method> {
    Method::named(&format!("set{}", capitalized(name)))
}

/// A name with a capital.
pub(crate) fn capitalized(name: &str) -> String {
    let mut chars = name.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// True if a value has a method of so many arguments.
pub(crate) fn has_method(of: &Value, method: Method, args: usize, dialect: Dialect) -> bool {
    if let Value::Class(class) = of
        && class.kind().static_method(method, args).is_some()
    {
        return true;
    }
    let mut kind = of.kind();
    loop {
        if kind.method(method, args, dialect).is_some() {
            return true;
        }
        match kind.stand() {
            Some(stand) => kind = stand.kind,
            None => return false,
        }
    }
}

/// A constant of a class, or a property of the class itself.
pub(crate) fn constant(m: &mut Machine<'_>, class: Class, name: &Rc<str>) -> Run {
    if let Some(value) = class.kind().constant(name) {
        return Ok(value);
    }
    for getter in getters(name).into_iter().flatten() {
        if has_method(&Value::Class(class), getter, 0, m.dialect) {
            return m.invoke_static(class, getter, &[]);
        }
    }
    m.missing_property(&Value::Class(class), name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ptr;

    #[test]
    fn all_classes_are_named() {
        let is_named = |kind: &Kind| ALL.iter().any(|known| ptr::eq(*known, kind));
        for kind in ALL {
            for other in kind.lineage().into_iter().chain(kind.stand().map(|stand| stand.kind)) {
                assert!(
                    is_named(other),
                    "{} uses {}, which is not in ALL",
                    kind.full_name(),
                    other.full_name()
                );
            }
            for row in kind.all_rows() {
                if let Some(given) = row.given() {
                    assert!(
                        is_named(given),
                        "{}.{} gives {}",
                        kind.full_name(),
                        row.name(),
                        given.full_name()
                    );
                }
            }
        }
    }

    #[test]
    fn classes_by_name() {
        let full = |class: Option<Class>| class.map(Class::full_name);
        assert_eq!(full(Class::named("Base64")).as_deref(), Some("java.util.Base64"));
        let path = "org.apache.commons.codec.binary.Base64";
        assert_eq!(full(Class::with_path(path)).as_deref(), Some(path));
        assert_eq!(full(Class::with_path("java.util.Base64")).as_deref(), Some("java.util.Base64"));
        assert_eq!(
            full(Class::with_path("org.apache.commons.lang.StringUtils")).as_deref(),
            Some("org.apache.commons.lang3.StringUtils")
        );
        assert_eq!(full(Class::named("Entry")).as_deref(), Some("java.util.Map.Entry"));
        assert_eq!(
            full(Class::named("NullPointerException")).as_deref(),
            Some("java.lang.NullPointerException")
        );
        assert_eq!(full(Class::named("Socket")), None);
        assert!(crate::model::class::refusal("java.net.Socket").is_some());
    }
}
