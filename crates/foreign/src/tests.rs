use super::*;
use plan::{Field, Plan, Request};

fn no_file(_: &str) -> Result<Vec<u8>, String> {
    Err("it is not there".to_owned())
}

fn asked<'a>(name: &'a str, text: &'a str) -> ForeignAsked<'a> {
    ForeignAsked { name, text, base: None, set: &[], environment: &[], find: &no_file }
}

fn taken(asked: &ForeignAsked<'_>) -> Taken {
    let taken = read(asked).unwrap_or_else(|why| panic!("{}: {why}", asked.name));
    assert!(is(asked.name, asked.text), "{}", asked.name);
    taken
}

fn set(name: &str, value: &str) -> Vec<(String, String)> {
    vec![(name.to_owned(), value.to_owned())]
}

/// Method, URL, name, fields and body of each request.
fn lines(taken: &Taken) -> Vec<String> {
    let value = |field: &Field| format!("{}={}", field.name, field.value.text());
    let line = |request: &Request| {
        let fields: Vec<String> = request.fields.iter().map(value).collect();
        let body = String::from_utf8_lossy(&request.body).into_owned();
        format!("{} {} [{}] {} {body}", request.method, request.url, request.name, fields.join(","))
    };
    taken.requests.iter().map(|request| line(request).trim_end().to_owned()).collect()
}

/// The plan is one, and says the same when it is read again.
fn check_plan(taken: Taken) {
    let plan = taken.plan(7);
    assert_eq!(plan.check(), Vec::<String>::new());
    let text = plan.to_text();
    let back = Plan::from_text(&text).unwrap().to_text();
    // What stands before it of secrets that are not part of it is said once.
    let said = text.split_once("\n\n").filter(|(said, _)| said.starts_with('#'));
    assert!(back == said.map_or(text.as_str(), |(_, plan)| plan), "{text}\n{back}");
}

const PETS: &str = include_str!("tests/pets.yaml");

#[test]
fn an_openapi_description_is_a_request_for_each_operation() {
    let found = taken(&asked("pets.yaml", PETS));
    assert_eq!(
        lines(&found),
        [
            "GET https://api.example.org/v1/pets?limit=20&tag=cat&tag=old [listPets] X-Trace=00000000-0000-4000-8000-000000000000",
            "POST https://api.example.org/v1/pets [POST /pets] Content-Type=application/json \
             {\"name\":\"Rex\",\"tags\":[\"text\"],\"born\":\"2026-01-01\",\"owner\":{\"email\":\"user@example.com\"},\"kind\":\"dog\"}",
            "GET https://api.example.org/v1/pets/a%20b [getPet]",
            "DELETE https://api.example.org/v1/pets/7 [DELETE /pets/{id}] Cookie=session=text",
            "PUT https://files.example.org/photos/1 [putPhoto]",
            "POST https://api.example.org/v1/login [login] Content-Type=application/x-www-form-urlencoded user=me&code=textxxxx",
        ]
    );
    assert_eq!(
        found.left_out,
        [
            "other servers: https://staging.example.org",
            "the reference common.yaml#/Error, which leads to nothing in this file",
            "listPets: parameters that it can do without: page",
            "listPets: its credentials (key): add the field that carries them",
            "POST /pets: its credentials (key): add the field that carries them",
            "getPet: its credentials (key): add the field that carries them",
            "DELETE /pets/{id}: its credentials (key): add the field that carries them",
            "putPhoto: its body (image/png)",
            "putPhoto: its credentials (key): add the field that carries them",
            "login.code is to match ^[0-9a-z]+$: 'text' is sent",
        ]
    );
    check_plan(found);
}

#[test]
fn a_description_goes_to_another_address_and_its_server_has_variables() {
    let here = taken(&ForeignAsked { base: Some("localhost:8080"), ..asked("pets.yaml", PETS) });
    assert!(lines(&here)[0].starts_with("GET http://localhost:8080/v1/pets?limit=20"), "{:?}", lines(&here));
    let values = set("env", "test");
    let test = taken(&ForeignAsked { set: &values, ..asked("pets.yaml", PETS) });
    assert!(lines(&test)[0].starts_with("GET https://test.example.org/v1/pets?"), "{:?}", lines(&test));
}

#[test]
fn a_description_in_swaggers_second_version_is_read_as_well() {
    let text = r##"{"swagger": "2.0", "host": "h:81", "basePath": "/v2", "schemes": ["http"],
        "definitions": {"A": {"type": "object",
            "properties": {"n": {"type": "integer", "minimum": 3}, "self": {"$ref": "#/definitions/A"}}}},
        "paths": {"/a": {"post": {"operationId": "a", "parameters": [{"name": "b", "in": "body", "required": true,
            "schema": {"allOf": [{"$ref": "#/definitions/A"}, {"properties": {"ok": {"type": "boolean"}}}]}}]}},
          "/f/{x}": {"post": {"parameters": [{"name": "x", "in": "path", "required": true, "type": "string", "enum": ["u", "v"]},
            {"name": "q", "in": "formData", "required": true, "type": "number"}]}}}}"##;
    let found = taken(&asked("a.json", text));
    let lines = lines(&found);
    assert!(
        lines[0].starts_with(
            "POST http://h:81/v2/a [a] Content-Type=application/json {\"n\":3,\"self\":{\"n\":3,"
        ),
        "{lines:?}"
    );
    assert!(lines[0].ends_with(",\"ok\":true}"), "{lines:?}");
    assert_eq!(
        lines[1],
        "POST http://h:81/v2/f/u [POST /f/{x}] Content-Type=application/x-www-form-urlencoded q=1.5"
    );
    check_plan(found);
}

const SHOP: &str = include_str!("tests/shop.json");

#[test]
fn a_collection_keeps_methods_bodies_folders_and_credentials() {
    let environment = environment(include_str!("tests/environment.json")).unwrap();
    assert_eq!(environment.len(), 2, "one is switched off: {environment:?}");
    let found = taken(&ForeignAsked { environment: &environment, ..asked("shop.json", SHOP) });
    assert_eq!(
        lines(&found),
        [
            "POST http://shop.test:8080/v1/items/7?full=yes [items / add] A=b,Authorization=Bearer t-1,Content-Type=application/json \
             {\"n\": \"{{nobody}}\"}",
            "GET http://shop.test:8080/v1/items/:id [items / one] X-Key=k",
            "POST http://shop.test:8080/v1/form [form] Authorization=Basic bWU6cHc=,Content-Type=application/x-www-form-urlencoded a=b+c",
            "POST http://shop.test:8080/v1/upload [upload] Content-Type=multipart/form-data; boundary=----wringer-part-of-form \
             ------wringer-part-of-form\r\nContent-Disposition: form-data; name=\"note\"\r\n\r\nhi\r\n\
             ------wringer-part-of-form\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.png\"\r\n\r\n\r\n\
             ------wringer-part-of-form--",
            "POST http://shop.test:8080/graphql [graph] Authorization=Bearer t-1,Content-Type=application/json \
             {\"query\":\"{ a }\",\"variables\":{\"n\":1}}",
            "GET http://shop.test/plain [plain] Authorization=Bearer t-1",
        ]
    );
    assert_eq!(
        found.left_out,
        [
            "the collection: its scripts",
            "items / add: its scripts",
            "{{nobody}} has no value and is sent as it stands: wringer run and wringer plan new give it one by --set nobody=VALUE",
            "items / one: :id of its path has no value and is sent as it stands",
            "upload: the file /home/me/a.png of its form, which is sent empty: it is not there",
            "graph: its protocolProfileBehavior",
        ]
    );
    check_plan(found);
}

#[test]
fn a_key_goes_where_the_collection_says() {
    for (place, url, line) in [
        ("query", "http://h/a", "GET http://h/a?api_key=k+1%26 [a]"),
        ("query", "http://h/a?b=c#d", "GET http://h/a?b=c&api_key=k+1%26 [a]"),
        ("header", "http://h/a", "GET http://h/a [a] api_key=k 1&"),
    ] {
        let pair = |key: &str, value: &str| format!(r#"{{"key": "{key}", "value": "{value}"}}"#);
        let pairs = [pair("in", place), pair("key", "api_key"), pair("value", "{{key}}")].join(",");
        let text = format!(
            r#"{{"info": {{}}, "variable": [{{"key": "key", "value": "k 1&"}}],
                "auth": {{"type": "apikey", "apikey": [{pairs}]}}, "item": [{{"name": "a", "request": "{url}"}}]}}"#
        );
        let found = taken(&asked("a.json", &text));
        assert_eq!((lines(&found), found.left_out.as_slice()), (vec![line.to_owned()], &[][..]), "{place}");
        check_plan(found);
    }
}

#[test]
fn values_that_are_given_are_stronger_and_belong_to_something() {
    let values = set("base", "http://127.0.0.1:9");
    let found = taken(&ForeignAsked { set: &values, ..asked("shop.json", SHOP) });
    assert!(lines(&found)[0].starts_with("POST http://127.0.0.1:9/v1/items/7"), "{:?}", lines(&found));
    let values = set("bsae", "x");
    let why = read(&ForeignAsked { set: &values, ..asked("shop.json", SHOP) }).unwrap_err();
    assert_eq!(why, "nothing in shop.json is called bsae: check the name behind --set");
}

#[test]
fn targets_of_vegeta_keep_their_fields_and_bodies() {
    let find = |file: &str| match file {
        "body.json" => Ok(b"{\"a\":1}".to_vec()),
        _ => Err("it is not there".to_owned()),
    };
    let text = "# all\nGET http://h/a?b=c\nX-A: b\nHost: other\n\nPOST http://h/p\nContent-Length: 7\n@body.json\n\
                {\"method\": \"PUT\", \"url\": \"http://h/j\", \"header\": {\"A\": [\"b\", \"c\"]}, \"body\": \"aGk=\"}\n";
    let found = taken(&ForeignAsked { find: &find, ..asked("targets.txt", text) });
    assert_eq!(
        lines(&found),
        [
            "GET http://h/a?b=c [GET /a] X-A=b,Host=other",
            "POST http://h/p [POST /p]  {\"a\":1}",
            "PUT http://h/j [PUT /j] A=b,A=c hi",
        ]
    );
    assert_eq!(found.left_out, ["POST /p: the field Content-Length, which each request gets as it needs it"]);
    check_plan(found);
    let moved = taken(&ForeignAsked { base: Some("https://other:8443/"), ..asked("t", "GET http://h/a\n") });
    assert_eq!(lines(&moved), ["GET https://other:8443/a [GET /a]"]);
    let why = read(&asked("t", "POST http://h/p\n@none.json\n")).unwrap_err();
    assert_eq!(why, "t: line 2: the body in none.json cannot be read: it is not there");
}

#[test]
fn http_files_keep_names_fields_bodies_and_variables() {
    let find = |file: &str| match file {
        "./in.txt" => Ok(b"from {{who}}".to_vec()),
        _ => Err("it is not there".to_owned()),
    };
    let text = include_str!("tests/all.http");
    let found = taken(&ForeignAsked { find: &find, ..asked("all.http", text) });
    assert_eq!(
        lines(&found),
        [
            "POST http://h:80/p [first] Content-Type=application/json {\"a\": 1,\n \"b\": \"me\"}",
            "GET http://h:80/g?x=1&y=2 [second] Authorization=Basic bWU6cHc=",
            "GET http://elsewhere:81/path [GET /path]",
            "POST http://h:80/form [POST /form] Content-Type=application/x-www-form-urlencoded a=1&b=2",
            "POST http://h:80/file [POST /file]  from {{who}}",
            "PUT http://h:80/file [PUT /file]  from me",
        ]
    );
    assert_eq!(
        found.left_out,
        [
            "first: its script",
            "the line # @no-redirect",
            "second: the line >> out.json",
            "the line WEBSOCKET ws://h/x, and what belongs to it",
        ]
    );
    check_plan(found);
}

#[test]
fn what_is_none_of_them_is_refused() {
    for (name, text, said) in [
        ("a.json", "{\"a\": 1}", "a.json is no OpenAPI description, no collection"),
        ("a.txt", "hello\n", "a.txt is no OpenAPI description"),
        ("a.http", "# nothing\n", "a.http has no request"),
        ("a.yaml", "openapi: 3.0.0\npaths: {/a: {get: {}}}\n", "give --base-url"),
        ("a.http", "GET /a\n", "/a is no URL with a host: give --base-url"),
        ("t", "GET http://h/\nwhat\n", "t: line 2: it is no request"),
    ] {
        let why = read(&asked(name, text)).unwrap_err();
        assert!(why.contains(said), "{name}: {why}");
    }
    for plan in [
        "version = 1\nseed = 7\n",
        "# GET http://h/\n[load]\n",
        "{\"version\": 1}",
        "version: 1\npaths: openapi\n",
    ] {
        assert!(!is("plan", plan) && !is("plan.json", plan) && !is("plan.yaml", plan), "{plan}");
    }
    for list in [
        "GET http://h/\nPOST http://h/b data='x: y'\n",
        "GET http://h/\nlocalhost:8080/a\n/path\n",
        "http://h/\n",
    ] {
        assert!(!is_more_than_urls("urls.txt", list), "{list}");
    }
    assert!(
        is_more_than_urls("urls.txt", "GET http://h/\nA: b\n")
            && is_more_than_urls("all.http", "http://h/\n")
    );
    let wrong = ForeignAsked { base: Some("http://h/path"), ..asked("t", "GET http://h/\n") };
    assert!(read(&wrong).unwrap_err().contains("without a path"));
}
