-- JSON, under the names that scripts know: cjson, cjson.safe, json, dkjson. `...` is the host's functions.

local host = ...
local null = host.null
local floor, huge = math.floor, math.huge
local byte, char, find, format, gsub, sub = string.byte, string.char, string.find, string.format, string.gsub, string.sub
local concat, tostring, tonumber, type, error, pairs = table.concat, tostring, tonumber, type, error, pairs

local DEPTH = 1000

local escapes = { ['"'] = '\\"', ["\\"] = "\\\\", ["/"] = "\\/", ["\b"] = "\\b", ["\f"] = "\\f", ["\n"] = "\\n",
   ["\r"] = "\\r", ["\t"] = "\\t" }

local function quoted(text)
   return '"' .. gsub(text, '[%z\1-\31"\\/\127]', function(c)
      return escapes[c] or format("\\u%04x", byte(c))
   end) .. '"'
end

-- The length of a table that is an array, or nil; one with great gaps is refused.
local function array_length(value)
   local most, count = 0, 0
   for key in pairs(value) do
      if type(key) ~= "number" or key < 1 or key ~= floor(key) then return nil end
      count = count + 1
      if key > most then most = key end
   end
   if most == 0 then return nil end
   if most > 10 and most > count * 2 then
      error("Cannot serialise table: excessively sparse array", 0)
   end
   return most
end

local encode

local function encode_table(value, depth)
   if depth > DEPTH then error("Cannot serialise, excessive depth (" .. depth .. ")", 0) end
   local parts, length = {}, array_length(value)
   if length then
      for nth = 1, length do parts[nth] = encode(value[nth], depth) end
      return "[" .. concat(parts, ",") .. "]"
   end
   for key, member in pairs(value) do
      local kind = type(key)
      if kind ~= "string" and kind ~= "number" then
         error("Cannot serialise table: table key must be a number or string", 0)
      end
      parts[#parts + 1] = quoted(tostring(key)) .. ":" .. encode(member, depth)
   end
   return "{" .. concat(parts, ",") .. "}"
end

function encode(value, depth)
   local kind = type(value)
   if kind == "string" then return quoted(value) end
   if kind == "table" then return encode_table(value, (depth or 0) + 1) end
   if kind == "boolean" then return tostring(value) end
   if value == nil or value == null then return "null" end
   if kind ~= "number" then error("Cannot serialise " .. kind .. ": type not supported", 0) end
   if value ~= value or value == huge or value == -huge then
      error("Cannot serialise number: must not be NaN or Infinity", 0)
   end
   return format("%.14g", value)
end

local function wrong(wanted, text, at)
   local found = sub(text, at, at)
   found = found == "" and "the end" or "'" .. found .. "'"
   error("Expected " .. wanted .. " but found " .. found .. " at character " .. at, 0)
end

local function skip(text, at)
   return find(text, "[^ \t\r\n]", at) or #text + 1
end

local function utf8(code)
   if code < 0x80 then return char(code) end
   if code < 0x800 then return char(0xC0 + floor(code / 64), 0x80 + code % 64) end
   if code < 0x10000 then
      return char(0xE0 + floor(code / 4096), 0x80 + floor(code / 64) % 64, 0x80 + code % 64)
   end
   return char(0xF0 + floor(code / 262144), 0x80 + floor(code / 4096) % 64, 0x80 + floor(code / 64) % 64, 0x80 + code % 64)
end

local unescapes = { b = "\b", f = "\f", n = "\n", r = "\r", t = "\t", ['"'] = '"', ["\\"] = "\\", ["/"] = "/" }

-- What an escape at `at`, behind the backslash, stands for, and where it ends.
local function unescape(text, at)
   local letter = sub(text, at, at)
   if letter ~= "u" then
      return unescapes[letter] or wrong("an escape", text, at), at + 1
   end
   local code = tonumber(text:match("^%x%x%x%x", at + 1) or wrong("four hex digits", text, at + 1), 16)
   local low = code >= 0xD800 and code < 0xDC00 and text:match("^\\u([dD][c-fC-F]%x%x)", at + 5)
   if low then
      return utf8(0x10000 + (code - 0xD800) * 1024 + tonumber(low, 16) - 0xDC00), at + 11
   end
   return utf8(code), at + 5
end

local function decode_string(text, at)
   local parts, from = {}, at + 1
   while true do
      local stop = find(text, '["\\%z\1-\31]', from)
      if not stop then wrong("the end of a string", text, #text + 1) end
      parts[#parts + 1] = sub(text, from, stop - 1)
      local found = sub(text, stop, stop)
      if found == '"' then return concat(parts), stop + 1 end
      if found ~= "\\" then wrong("a character of a string", text, stop) end
      parts[#parts + 1], from = unescape(text, stop + 1)
   end
end

local decode

-- The members between two brackets; `member` reads one and keeps it.
local function members(text, at, close, member)
   at = skip(text, at + 1)
   if sub(text, at, at) == close then return at + 1 end
   while true do
      at = skip(text, member(at))
      local found = sub(text, at, at)
      if found == close then return at + 1 end
      if found ~= "," then wrong("',' or '" .. close .. "'", text, at) end
      at = skip(text, at + 1)
   end
end

local function decode_array(text, at, depth)
   local array, length = {}, 0
   at = members(text, at, "]", function(from)
      length = length + 1
      array[length], from = decode(text, from, depth)
      return from
   end)
   return array, at
end

local function decode_object(text, at, depth)
   local object = {}
   at = members(text, at, "}", function(from)
      if sub(text, from, from) ~= '"' then wrong("a name", text, from) end
      local name
      name, from = decode_string(text, from)
      from = skip(text, from)
      if sub(text, from, from) ~= ":" then wrong("':'", text, from) end
      object[name], from = decode(text, skip(text, from + 1), depth)
      return from
   end)
   return object, at
end

function decode(text, at, depth)
   depth = depth + 1
   if depth > DEPTH then error("Found too many nested data structures (" .. depth .. ")", 0) end
   local first = sub(text, at, at)
   if first == "{" then return decode_object(text, at, depth) end
   if first == "[" then return decode_array(text, at, depth) end
   if first == '"' then return decode_string(text, at) end
   local word = text:match("^%a+", at)
   if word == "true" then return true, at + 4 end
   if word == "false" then return false, at + 5 end
   if word == "null" then return null, at + 4 end
   local digits = text:match("^%-?%d+%.?%d*[eE]?[+-]?%d*", at)
   local number = digits and tonumber(digits)
   if not number then wrong("a value", text, at) end
   return number, at + #digits
end

local function whole(text)
   local value, at = decode(text, skip(text, 1), 0)
   at = skip(text, at)
   if at <= #text then wrong("the end", text, at) end
   return value
end

-- Errors name the line of whoever called.
local function raising(called)
   return function(value)
      local ok, result = pcall(called, value)
      if not ok then error(result, 2) end
      return result
   end
end

local function safe(called)
   return function(value)
      local ok, result = pcall(called, value)
      if ok then return result end
      return nil, result
   end
end

local function nothing() end

local function module(encoder, decoder)
   local json = { encode = encoder, decode = decoder, null = null, _VERSION = "wringer" }
   for _, setting in ipairs { "encode_sparse_array", "encode_max_depth", "decode_max_depth", "encode_number_precision",
      "encode_keep_buffer", "encode_invalid_numbers", "decode_invalid_numbers", "encode_escape_forward_slash" } do
      json[setting] = nothing
   end
   return json
end

local cjson = module(raising(encode), raising(whole))
cjson.safe = module(safe(encode), safe(whole))
function cjson.new() return cjson end

-- null is nothing in these two.
local function plain(value)
   if value == null then return nil end
   if type(value) == "table" then
      for key, member in pairs(value) do value[key] = plain(member) end
   end
   return value
end

local json = module(raising(encode), raising(function(text) return plain(whole(text)) end))

local dkjson = module(raising(encode), function(text, from)
   local ok, value, at = pcall(decode, text, skip(text, from or 1), 0)
   if ok then return plain(value), at end
   return nil, #text + 1, value
end)
dkjson.quotestring = quoted
dkjson.use_lpeg = function() return dkjson end

return { cjson = cjson, ["cjson.safe"] = cjson.safe, json = json, dkjson = dkjson }
