//! Classes that scripts bring their data into form with. Where each expected value comes from stands beside it: a standard's vector,
//! another program, or the source of Java's, Groovy's or the library's own class.

use jmscript::{Dialect, MachineLimits, MemoryHost, Script};

/// 14 November 2023, 22:13:20 UTC.
const NOW: i64 = 1_700_000_000_000;

/// The text of a script's value, or of the exception that ended it.
fn value(script: &str) -> String {
    let mut host = MemoryHost { now: NOW, ..MemoryHost::default() };
    let compiled = Script::compile(script, Dialect::Groovy);
    let compiled = compiled.unwrap_or_else(|listed| panic!("{script}\n{listed:?}"));
    match compiled.evaluate(&mut host, MachineLimits::default()) {
        Ok(text) => text.to_string(),
        Err(error) => format!("{} {}", error.class.rsplit('.').next().unwrap(), error.message),
    }
}

fn check(cases: &[(&str, &str)]) {
    for (script, expected) in cases {
        assert_eq!(value(script), *expected, "{script}");
    }
}

/// The reasons for which a script is listed before the run.
fn listed(script: &str) -> String {
    let found = Script::compile(script, Dialect::Groovy).expect_err(script);
    found.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

#[test]
fn arrays_of_bytes_are_changed_in_place() {
    check(&[
        // Random.next of Java's documentation: -1170105035 and 234785527, the lowest byte first.
        (
            "byte[] b = new byte[7]; new Random(42).nextBytes(b); b.toList().toString()",
            "[53, -99, 65, -70, -9, -118, -2]",
        ),
        ("byte[] b = new byte[16]; new java.security.SecureRandom().nextBytes(b); b.length", "16"),
        (
            "def a = new byte[8]; def b = new byte[8]; def r = new java.security.SecureRandom(); r.nextBytes(a); r.nextBytes(b); a == b",
            "false",
        ),
        ("byte[] b = 'abc'.bytes; def same = b; same[0] = 65; new String(b)", "Abc"),
        ("byte[] b = 'abc'.bytes; b[1] = (byte) 200; b[1]", "-56"),
        (
            "byte[] b = new byte[2]; b[2] = 1",
            "ArrayIndexOutOfBoundsException Index 2 out of bounds for length 2",
        ),
        (
            "byte[] b = new byte[4]; System.arraycopy('xyz'.bytes, 1, b, 2, 2); b.toList().toString()",
            "[0, 0, 121, 122]",
        ),
        // Arrays.copyOf and copyOfRange put zeros behind the end.
        ("Arrays.copyOf('ab'.bytes, 3).toList().toString()", "[97, 98, 0]"),
        ("new String(Arrays.copyOfRange('abcdef'.bytes, 1, 3))", "bc"),
        ("byte[] b = new byte[2]; Arrays.fill(b, (byte) 7); b.toList().toString()", "[7, 7]"),
    ]);
}

#[test]
fn streams_of_bytes_are_written_compressed_and_read() {
    let zip = "import java.util.zip.*\n";
    let cases = [
        (
            "def o = new ByteArrayOutputStream(); o.write('ab'.bytes); o.write(99); o.write('xyz'.bytes, 1, 1); o << 'd'; o.toString() + o.size()",
            "abcyd5",
        ),
        // Compressed by Python's gzip and zlib, 1.3.
        (
            "new GZIPInputStream(new ByteArrayInputStream('H4sIAAAAAAACA8tIzcnJV0ivyiwAABlq0t8KAAAA'.decodeBase64())).text",
            "hello gzip",
        ),
        (
            "new InflaterInputStream(new ByteArrayInputStream('eJzLSM3JyVeoyslMAgAVlQPm'.decodeBase64())).getText('UTF-8')",
            "hello zlib",
        ),
        (
            "def i = new Inflater(true); i.setInput('y0jNyclXKEosBwA='.decodeBase64()); byte[] b = new byte[4]\n\
             def o = new ByteArrayOutputStream(); while (!i.finished()) { int n = i.inflate(b); o.write(b, 0, n) }; o.toString('UTF-8')",
            "hello raw",
        ),
        // The magic number of RFC 1952, and what comes back.
        (
            "def o = new ByteArrayOutputStream(); def z = new GZIPOutputStream(o); z.write('text'.getBytes('UTF-8')); z.close()\n\
             def b = o.toByteArray(); '' + b[0] + b[1] + new BufferedReader(new InputStreamReader(new GZIPInputStream(new ByteArrayInputStream(b)))).readLine()",
            "31-117text",
        ),
        (
            "def o = new ByteArrayOutputStream(); def d = new DeflaterOutputStream(o, new Deflater(Deflater.BEST_COMPRESSION, true))\n\
             d.write('again and again and again'.bytes); d.close(); def i = new Inflater(true)\n\
             (o.size() < 25) + new InflaterInputStream(new ByteArrayInputStream(o.toByteArray()), i).text",
            "trueagain and again and again",
        ),
        (
            "def d = new Deflater(); d.setInput('abc'.bytes); d.finish(); byte[] b = new byte[100]; int n = d.deflate(b)\n\
             def i = new Inflater(); i.setInput(Arrays.copyOf(b, n)); byte[] c = new byte[10]; int k = i.inflate(c); new String(c, 'UTF-8').substring(0, k) + i.finished()",
            "abctrue",
        ),
        ("def r = new BufferedReader(new StringReader('a: 1\\nb: 2')); r.readLine(); r.readLine()", "b: 2"),
        (
            "def w = new StringWriter(); def p = new PrintWriter(w); p.print('a'); p.println(1); w << 'é'; w.toString()",
            "a1\né",
        ),
        ("new GZIPInputStream(new ByteArrayInputStream('no gzip'.bytes))", "ZipException Not in GZIP format"),
        (
            "def o = new ByteArrayOutputStream(); def z = new GZIPOutputStream(o); z.close(); z.write(1)",
            "IOException Stream closed",
        ),
    ];
    for (script, expected) in cases {
        let script = format!("{zip}{script}");
        assert_eq!(value(&script), expected, "{script}");
    }
}

#[test]
fn what_is_decompressed_is_bounded() {
    // Ten megabytes of zeros again and again.
    let script = "import java.util.zip.*\ndef o = new ByteArrayOutputStream(); def z = new GZIPOutputStream(o)\n\
        byte[] zeros = new byte[1000000]; 10.times { z.write(zeros) }; z.close(); def b = o.toByteArray()\n\
        20.times { new GZIPInputStream(new ByteArrayInputStream(b)).bytes }; 'all'";
    let found = value(script);
    assert!(found.contains("bytes of memory") || found.contains("steps"), "{found}");
}

#[test]
fn times_by_category() {
    let cases = [
        // groovy.time.Duration.getFrom and getAgo end at midnight, those of TimeDuration do not.
        ("3.days.from.now.format('yyyy-MM-dd HH:mm:ss')", "2023-11-17 00:00:00"),
        ("1.week.ago.format('yyyy-MM-dd HH:mm:ss')", "2023-11-07 00:00:00"),
        ("2.hours.ago.format('yyyy-MM-dd HH:mm:ss')", "2023-11-14 20:13:20"),
        ("int n = 10; n.minutes.from.now.format('HH:mm:ss')", "22:23:20"),
        ("(new Date() + 1.month + 2.days).format('yyyy-MM-dd HH:mm')", "2023-12-16 22:13"),
        ("(new Date() - 1.year).format('yyyy-MM-dd')", "2022-11-14"),
        (
            "def d = new Date() - new Date(1_699_913_600_000L); d.toString() + '|' + d.hours + '|' + d.toMilliseconds()",
            "1 days|0|86400000",
        ),
        ("(1.day + 2.hours + 90.seconds).toString()", "1 days, 2 hours, 90.000 seconds"),
        ("5.milliseconds.toString()", "0.005 seconds"),
        ("1.day.toMilliseconds()", "86400000"),
    ];
    for (script, expected) in cases {
        let script = format!("import groovy.time.TimeCategory\nuse (TimeCategory) {{ {script} }}");
        assert_eq!(value(&script), expected, "{script}");
    }
    let outside = value("import groovy.time.*\nuse(TimeCategory) { 1.day }\n3.days");
    assert!(outside.starts_with("MissingPropertyException"), "only within: {outside}");
}

#[test]
fn xml_is_read_and_walked_through() {
    let xml = "def x = new XmlSlurper().parseText('''<?xml version=\"1.0\"?><r xmlns:p=\"urn:p\" id=\"7\">\n  \
        <item n=\"1\" p:k=\"v\"><name>one</name></item>\n  <item n=\"2\"><name>two</name><p:deep>d</p:deep></item>\n  \
        <count>42</count><empty/></r>''')\n";
    // By GPathResult, NodeChild, NodeChildren and Attributes of groovy-xml 3.0.
    let cases = [
        ("x.name() + x.@id", "r7"),
        ("x.item.size() + '|' + x.item[1].name.text() + '|' + x.item[-1].@n", "2|two|2"),
        ("x.item.name.text() + x.item.name", "onetwoonetwo"),
        ("x.item.collect { it.@n.text() + it.name }.toString()", "[1one, 2two]"),
        ("x.item*.@n*.text().toString()", "[1, 2]"),
        ("x.item.find { it.@n == '2' }.name.toString()", "two"),
        ("x.item.findAll { it.@n.toInteger() > 1 }.size()", "1"),
        ("x.children().collect { it.name() }.join(',')", "item,item,count,empty"),
        ("x.count.toInteger() + 1", "43"),
        ("x.'**'.findAll { it.name() == 'name' }.size()", "2"),
        ("x.'*'.size() + x.item[0]['@n'].text()", "41"),
        ("x.item[1].deep.text() + x.item[0].attributes().toString()", "d[n:1, k:v]"),
        (
            "(x.count == '42') + '|' + (x.none.text() == '') + '|' + x.none.isEmpty() + x.empty.size()",
            "true|true|true1",
        ),
        ("x.item.find { it.@n == '9' } ? 'there' : 'missing'", "missing"),
        ("def s = ''; x.item.each { s += it.@n }; s + x.text()", "12onetwod42"),
        ("x.item[0].parent().name() + x.item[0].name.parent().@n", "r1"),
        ("def s = []; x.item.eachWithIndex { it, i -> s << i + ':' + it.@n }; s.toString()", "[0:1, 1:2]"),
        ("new XmlSlurper(false, false).parseText('<s:a xmlns:s=\"u\"><s:b>1</s:b></s:a>').'s:b'.text()", "1"),
    ];
    for (script, expected) in cases {
        assert_eq!(value(&format!("{xml}{script}")), expected, "{script}");
    }
    let changes = listed("def x = new XmlSlurper().parseText('<a/>'); x.appendNode { b('c') }; x.any.name");
    assert!(changes.contains("documents are read and not changed here"), "{changes}");
    assert!(value("new XmlSlurper().parseText('<a>')").starts_with("SAXParseException"));
}

#[test]
fn objects_and_arrays_of_org_json() {
    let import = "import org.json.*\n";
    let cases = [
        // A HashMap's order: the hashes of token, user, id and amount are in buckets 15, 13, 11 and 2 of 16.
        (
            "def o = new JSONObject(); o.put('token', 't').put('user', 1).put('id', true).put('amount', 1.50); o.toString()",
            r#"{"amount":1.5,"id":true,"user":1,"token":"t"}"#,
        ),
        (
            r#"def o = new JSONObject('{"b":{"c":[1,2.0,null,"x"]},"a":9876543210}'); o.getJSONObject('b').getJSONArray('c').getString(3) + o.getLong('a') + o.a + o['a']"#,
            "x987654321098765432109876543210",
        ),
        (
            r#"def a = new JSONArray('[3,{"k":"v"}]'); '' + a.length() + a.getInt(0) + a.getJSONObject(1).getString('k')"#,
            "23v",
        ),
        (
            r#"new JSONObject('{"a":1}').optString('z', 'none') + new JSONObject('{"a":1}').optInt('a')"#,
            "none1",
        ),
        (
            r#"def o = new JSONObject('{"n":null}'); '' + o.isNull('n') + o.has('n') + o.has('m') + o"#,
            r#"truetruefalse{"n":null}"#,
        ),
        (r#"new JSONObject([x: [1, 2], y: 'é</a>']).toString()"#, r#"{"x":[1,2],"y":"é<\/a>"}"#),
        ("new JSONArray([1, 'a', [k: 2]]).toString()", r#"[1,"a",{"k":2}]"#),
        (
            "new JSONObject().put('a', new JSONArray().put(1).put(2)).put('b', 'x').toString(2)",
            "{\n  \"a\": [\n    1,\n    2\n  ],\n  \"b\": \"x\"\n}",
        ),
        ("def k = []; new JSONObject([b: 1, a: 2]).keys().each { k << it }; k.join(',')", "a,b"),
        ("new JSONObject('{}').getString('a')", r#"JSONException JSONObject["a"] not found."#),
        (
            "new JSONObject('[1]')",
            "JSONException A JSONObject text must begin with '{' at 1 [character 2 line 1]",
        ),
        (
            "def o = new JSONObject(); o.put('o', o)",
            "UnsupportedOperationException a list or map cannot hold itself here",
        ),
    ];
    for (script, expected) in cases {
        assert_eq!(value(&format!("{import}{script}")), expected, "{script}");
    }
    let other = listed("import net.minidev.json.JSONObject\nnew JSONObject().put('a', 1)");
    assert!(other.contains("JSONObject"), "another library's is not this one: {other}");
}

#[test]
fn texts_are_encrypted_and_decrypted() {
    let import = "import javax.crypto.*\nimport javax.crypto.spec.*\n\
        def key = new SecretKeySpec('0123456789abcdef'.bytes, 'AES'); def iv = new IvParameterSpec('abcdefgh01234567'.bytes)\n";
    let cases = [
        // openssl enc -aes-128-cbc and -aes-256-ecb, 3.0.
        (
            "def c = Cipher.getInstance('AES/CBC/PKCS5Padding'); c.init(Cipher.ENCRYPT_MODE, key, iv); c.doFinal('attack at dawn'.bytes).encodeBase64().toString()",
            "/GQIY7B5sESfiSdZFcgvjg==",
        ),
        (
            "def c = Cipher.getInstance('AES/CBC/PKCS5Padding'); c.init(Cipher.DECRYPT_MODE, key, iv); new String(c.doFinal('/GQIY7B5sESfiSdZFcgvjg=='.decodeBase64()))",
            "attack at dawn",
        ),
        (
            "def k = new SecretKeySpec('0123456789abcdef0123456789abcdef'.bytes, 'AES'); def c = Cipher.getInstance('AES'); c.init(Cipher.ENCRYPT_MODE, k); \
             c.update('attack '.bytes); c.doFinal('at dawn'.bytes).encodeBase64().toString()",
            "uA/gtyQ5GxEwA4C8i/ecUg==",
        ),
        // A text and its tag of 16 bytes.
        (
            "def s = new GCMParameterSpec(128, new byte[12]); def c = Cipher.getInstance('AES/GCM/NoPadding'); c.init(Cipher.ENCRYPT_MODE, key, s); c.updateAAD('h'.bytes)\n\
             def t = c.doFinal('secret'.bytes); c.init(Cipher.DECRYPT_MODE, key, s); c.updateAAD('h'.bytes); '' + t.length + new String(c.doFinal(t))",
            "22secret",
        ),
        (
            "def s = new GCMParameterSpec(128, new byte[12]); def c = Cipher.getInstance('AES/GCM/NoPadding'); c.init(Cipher.DECRYPT_MODE, key, s); c.doFinal(new byte[20])",
            "AEADBadTagException Tag mismatch!",
        ),
        (
            "def c = Cipher.getInstance('AES'); c.init(Cipher.ENCRYPT_MODE, new SecretKeySpec('short'.bytes, 'AES'))",
            "InvalidKeyException Invalid AES key length: 5 bytes",
        ),
        (
            "def c = Cipher.getInstance('AES/CBC/PKCS5Padding'); c.init(Cipher.DECRYPT_MODE, key, iv); c.doFinal(new byte[7])",
            "IllegalBlockSizeException Input length must be multiple of 16 when decrypting with padded cipher",
        ),
    ];
    for (script, expected) in cases {
        assert_eq!(value(&format!("{import}{script}")), expected, "{script}");
    }
    let found = listed("javax.crypto.Cipher.getInstance('DES/CBC/PKCS5Padding')");
    assert!(found.contains("AES in CBC, ECB or GCM"), "{found}");
}

#[test]
fn tokens_are_built_and_signed() {
    let import = "import io.jsonwebtoken.*\nimport io.jsonwebtoken.security.Keys\n";
    // The token that jwt.io shows.
    let token = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiaWF0IjoxNTE2MjM5MDIyfQ.\
        SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c";
    let built = "Jwts.builder().setHeaderParam('alg', 'HS256').setHeaderParam('typ', 'JWT').setSubject('1234567890').claim('name', 'John Doe')\
        .setIssuedAt(new Date(1516239022999L))";
    for signed in [
        ".signWith(SignatureAlgorithm.HS256, 'your-256-bit-secret'.bytes).compact()",
        ".signWith(SignatureAlgorithm.HS256, 'your-256-bit-secret'.bytes.encodeBase64().toString()).compact()",
        ".signWith(new javax.crypto.spec.SecretKeySpec('your-256-bit-secret'.bytes, 'HmacSHA256'), SignatureAlgorithm.HS256).compact()",
    ] {
        assert_eq!(value(&format!("{import}{built}{signed}")), token, "{signed}");
    }
    // Algorithm last in the header, claims in their order, by jjwt 0.9.1.
    let parts = "def t = Jwts.builder().setClaims([b: 1, a: 'é']).setIssuer('i').signWith(Keys.hmacShaKeyFor(new byte[64])).compact().split(/\\./); \
        new String(t[0].decodeBase64Url()) + new String(t[1].decodeBase64Url(), 'UTF-8') + t[2].length()";
    assert_eq!(value(&format!("{import}{parts}")), r#"{"alg":"HS512"}{"b":1,"a":"é","iss":"i"}86"#);
    assert!(value(&format!("{import}Keys.hmacShaKeyFor('short'.bytes)")).starts_with("WeakKeyException"));
    assert!(listed(&format!("{import}Jwts.parser()")).contains("tokens are built here"));
}

#[test]
fn enums_have_constants_fields_and_methods() {
    let plain = "def used = Color.GREEN\nenum Color { RED, GREEN, BLUE }\n";
    let rich = "enum Level {\n  LOW(1, 'l'), HIGH(10, 'h');\n  final int weight\n  private final String sign\n  \
        Level(int weight, String sign) { this.weight = weight; this.sign = sign }\n  String shown() { return sign + weight }\n  \
        boolean isMore(Level other) { weight > other.weight }\n  static Level of(String sign) { values().find { it.sign == sign } }\n}\n";
    // By java.lang.Enum and the language specification, 8.9.
    let cases = [
        (plain, "used.name() + used.ordinal() + used + Color.values().size()", "GREEN1GREEN3"),
        (
            plain,
            "Color.valueOf('BLUE').toString() + (Color.RED == Color.valueOf('RED')) + (Color.RED == Color.BLUE)",
            "BLUEtruefalse",
        ),
        (plain, "Color.valueOf('PINK')", "IllegalArgumentException No enum constant Color.PINK"),
        (plain, "Color.RED.compareTo(Color.BLUE) + '|' + (Color.RED < Color.BLUE)", "-2|true"),
        (
            plain,
            "def f(c) { switch (c) { case Color.RED: return 'r'; case Color.GREEN: return 'g'; default: return '?' } }; f(used) + f(Color.BLUE)",
            "g?",
        ),
        (
            plain,
            "Color.values().collect { it.name().toLowerCase() }.join('-') + [(Color.RED): 1][Color.RED]",
            "red-green-blue1",
        ),
        (
            plain,
            "Color c = Color.RED; def s = ''; for (x in Color) { s += x }; \"${c}$s\"",
            "REDREDGREENBLUE",
        ),
        (rich, "Level.HIGH.weight + Level.LOW.getWeight() + Level.HIGH.shown()", "11h10"),
        (rich, "Level.of('h').toString() + (Level.of('x') == null)", "HIGHtrue"),
        (rich, "'' + Level.HIGH.isMore(Level.LOW) + Level.LOW.isMore(Level.HIGH)", "truefalse"),
    ];
    for (head, script, expected) in cases {
        assert_eq!(value(&format!("{head}{script}")), expected, "{script}");
    }
    assert!(listed("enum A { X }\ndef a = 'X' as A").contains("A.valueOf(text)"));
    assert!(listed("enum A implements Runnable { X; void run() {} }").contains("implements an interface"));
    assert!(listed("enum A { X { int f() { 1 } } }").contains("members of its own"));
}

/// Java has no method for these arguments either, and ends the script.
#[test]
fn arguments_of_another_kind_end_the_script() {
    for (script, method) in [
        ("groovy.time.TimeCategory.minus(5, 2)", "minus"),
        ("io.jsonwebtoken.security.Keys.secretKeyFor('RS256')", "secretKeyFor"),
    ] {
        let ended = value(script);
        assert!(ended.starts_with("MissingMethodException") && ended.contains(method), "{script}: {ended}");
    }
}
