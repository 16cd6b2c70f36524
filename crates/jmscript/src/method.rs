//! The names of methods that scripts may call, interned: a call is dispatched by a number.

macro_rules! methods {
    ($($name:ident)*) => {
        /// A method, under the name that scripts use.
        #[expect(non_camel_case_types, clippy::enum_variant_names, reason = "the names are those of Java, so that tables read like scripts")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Method { $($name),* }

        impl Method {
            /// All of them, in the order of this file.
            pub const ALL: &[Method] = &[$(Method::$name),*];

            /// The name as scripts write it.
            pub fn name(self) -> &'static str {
                // The underscore of what would be a keyword here.
                match self { $(Method::$name => stringify!($name).trim_end_matches('_')),* }
            }

            /// The method of this name; `None` for one that is not understood.
            pub fn named(name: &str) -> Option<Method> {
                Some(match name { "mod" => Method::mod_, $(stringify!($name) => Method::$name,)* _ => return None })
            }
        }
    };
}

methods! {
    // Of everything.
    isCase dump inspect toString equals hashCode getClass is asType with tap each print println compareTo
    // Texts.
    length charAt substring indexOf lastIndexOf contains startsWith endsWith equalsIgnoreCase
    compareToIgnoreCase toLowerCase toUpperCase trim strip isEmpty isBlank replace replaceAll replaceFirst
    split tokenize matches concat getBytes toCharArray chars intern repeat lines stripIndent stripMargin
    padLeft padRight center capitalize uncapitalize reverse readLines eachLine toShort subSequence
    isAllWhitespace toURI toURL toList toSet isNumber isInteger isLong isDouble isFloat isBigDecimal
    isBigInteger toInteger toLong toDouble toFloat toBoolean toBigDecimal toBigInteger toCharacter eachMatch
    findAll find minus plus multiply encodeBase64 decodeBase64 encodeBase64Url encodeHex decodeHex md5 sha256
    sha1 digest codePointAt take drop takeRight dropRight takeWhile dropWhile count size getAt putAt
    isWhitespace valueOf format formatted join substringBefore substringAfter substringBetween
    substringBeforeLast substringAfterLast execute slice stripLeading stripTrailing takeBetween contentEquals
    getText
    // Builders of texts.
    append insert deleteCharAt setLength setCharAt leftShift
    // Numbers.
    intValue longValue doubleValue floatValue shortValue byteValue booleanValue charValue intdiv abs round
    floor ceil pow times upto downto step toHexString toBinaryString toOctalString add subtract divide negate
    remainder setScale scale stripTrailingZeros toPlainString signum unscaledValue bitLength power div trunc
    max min isNaN isInfinite next previous sqrt cbrt exp log10 sin cos tan asin acos atan atan2 random hypot
    toRadians toDegrees floorMod floorDiv addExact multiplyExact subtractExact parseInt parseLong parseDouble
    parseFloat parseBoolean isDigit isLetter isLetterOrDigit isUpperCase isLowerCase getNumericValue compare
    sum rint toIntExact
    // Collections.
    addAll remove removeAll retainAll removeAt removeElement clear get getOrDefault set put putAll putIfAbsent
    containsKey containsValue containsAll keySet values entrySet collect collectEntries collectMany
    findIndexOf findLastIndexOf findIndexValues findResult findResults any every inject groupBy countBy sort
    toSorted unique toUnique flatten shuffle shuffled swap subList first last head tail init pop push peek
    poll offer addFirst addLast removeFirst removeLast getFirst getLast iterator listIterator hasNext
    eachWithIndex reverseEach grep withIndex indexed transpose collate intersect disjoint asList toArray
    stream forEach map filter mapToInt mapToObj boxed sorted distinct limit skip anyMatch allMatch noneMatch
    reduce getKey getValue setValue subMap withDefault isArray computeIfAbsent removeIf asImmutable
    asSynchronized asUnmodifiable unmodifiableList synchronizedList emptyList emptyMap singletonList nCopies
    frequency of copyOf copyOfRange fill average copy firstKey lastKey
    // JavaScript's.
    toFixed shift charCodeAt fromCharCode includes test exec substr search hasOwnProperty keys parse stringify
    toISOString some toLocaleString trimStart trimEnd padStart padEnd
    // Closures.
    call doCall curry memoize run
    // Patterns.
    compile matcher quote group groupCount start end lookingAt reset pattern getCount
    // Chance and identities.
    nextInt nextLong nextDouble nextBoolean nextGaussian nextFloat setSeed current randomUUID fromString
    nameUUIDFromBytes getMostSignificantBits getLeastSignificantBits
    // Time.
    currentTimeMillis nanoTime getTime setTime setTimeInMillis getTimeInMillis before after setTimeZone
    getTimeZone getInstance setLenient toPattern applyPattern now ofPattern ofEpochSecond ofEpochMilli
    ofEpochDay ofInstant withDayOfMonth withHour withMinute withSecond withNano withYear withMonth
    withDayOfYear getYear getMonthValue getMonth getDayOfMonth getDayOfYear getDayOfWeek getHour getMinute
    getSecond getNano atStartOfDay atTime atZone atOffset toLocalDate toLocalTime toLocalDateTime toInstant
    toEpochMilli toEpochSecond toEpochDay getEpochSecond isBefore isAfter isEqual truncatedTo between until
    toMillis toSeconds toMinutes toHours toDays toNanos getSeconds ofDays ofHours ofMinutes ofSeconds ofMillis
    getDisplayName withZone withLocale withZoneSameInstant withZoneSameLocal systemDefault getID getId
    getDefault from lengthOfMonth isLeapYear getOffset getHours getMinutes getDate getDay getActualMaximum
    getRawOffset toZonedDateTime toOffsetDateTime
    // JSON.
    parseText toJson prettyPrint toPrettyString parseFile getContent setType
    // Bytes and digests.
    getEncoder getDecoder getUrlEncoder getUrlDecoder getMimeEncoder getMimeDecoder encodeToString encode
    decode withoutPadding update doFinal encodeBase64String encodeBase64URLSafeString encodeHexString md5Hex
    sha1Hex sha256Hex sha512Hex sha512 randomAlphanumeric randomAlphabetic randomNumeric isNotEmpty isNotBlank
    leftPad rightPad forName defaultCharset getAlgorithm isNumeric isAlpha isAlphanumeric
    // What JMeter offers.
    getObject putObject getIteration getProperty setProperty getPropDefault getJMeterProperties
    getJMeterVersion getVariables getPreviousResult getCurrentSampler getThreadNum getThread getThreadGroup
    getEngine getProperties getThreadName getNumThreads getNumberOfThreads setStartNextThreadLoop
    setRestartNextLoop isSamplingStarted getName setName askThreadsToStop stopTest stopTestNow stop interrupt
    info debug warn error trace isInfoEnabled isDebugEnabled isWarnEnabled isErrorEnabled isTraceEnabled
    printf fatalError getResponseData getResponseDataAsString getResponseCode getResponseMessage
    getResponseHeaders getRequestHeaders getSamplerData getQueryString getURL getUrlAsString getSampleLabel
    getTimeStamp getStartTime getEndTime getLatency getConnectTime getBytesAsLong getBodySize
    getBodySizeAsLong getSentBytes getContentType getMediaType getDataType getErrorCount getSampleCount
    getAllThreads getGroupThreads getCookies getDataEncodingWithDefault getDataEncodingNoDefault
    getDataEncoding isSuccessful isResponseCodeOK setResponseData setResponseCode setResponseMessage
    setResponseHeaders setRequestHeaders setSamplerData setSuccessful setSampleLabel setDataType
    setDataEncoding setContentType setIgnore isIgnore setStopThread setStopTest setStopTestNow isStopThread
    isStopTest setResponseOK setResponseCodeOK setResponseMessageOK setLatency setConnectTime sampleStart
    sampleEnd setEncodingAndType getSubResults getAssertionResults getParent getFirstAssertionFailureMessage
    setEndTime setBytes setBodySize setStartTime setTimeStamp setFailure setError setFailureMessage
    setResultForFailure isFailure isError getFailureMessage getResult getCookieManager getHeaderManager
    getArguments getArgument getArgumentCount getArgumentsAsMap addArgument removeAllArguments removeArgument
    setArguments addNonEncodedArgument addEncodedArgument getPath setPath getMethod setMethod getDomain
    setDomain getPort setPort getProtocol setProtocol setPostBodyRaw getPostBodyRaw setFollowRedirects
    setUseKeepAlive getUrl getHeaders getHeader addHeader removeHeaderNamed setHeader getHeaderCount
    getCookieCount getCookie addCookie removeCookie setMetaData setSecure setExpires getFirstHeaderNamed
    setAlwaysEncoded setUseEquals getComment getFileServer getBaseDir hasVariable getVariable setVariable
    getMessage getLocalizedMessage getCause printStackTrace getStackTrace sleep lineSeparator getSimpleName
    isInstance cast newInstance
    // Files, below the plan's folder.
    exists isFile write newLine flush close readLine withWriter withWriterAppend withPrintWriter withReader
    newWriter newReader createNewFile getAbsolutePath toPath getCanonicalPath getFileName delete
    newPrintWriter ready toFile toAbsolutePath exit arraycopy
    getChars plusDays plusHours plusMillis plusMinutes plusMonths plusNanos plusSeconds plusWeeks plusYears minusDays
    minusHours minusMillis minusMinutes minusMonths minusNanos minusSeconds minusWeeks minusYears
    // And the rest.
    copyValueOf currentThread decodeBase64Url displayName getContext getError getFailure getFrom
    getInstanceStrong getIterator getPreviousSampler getTo getZone hasGroup intValueExact isNull isRecording
    log mod_ name nonNull readBytes roll setCookieManager setHeaderManager setText shaHex stringPropertyNames
    toZoneId writeLine
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_find_their_methods() {
        for method in Method::ALL {
            assert_eq!(Method::named(method.name()), Some(*method));
        }
        assert_eq!(Method::named("nothing"), None);
    }
}
