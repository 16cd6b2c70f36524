-- The parts of small modules that public scripts use. `...` is the host's functions.

local host = ...
local byte, char, sub = string.byte, string.char, string.sub
local floor = math.floor

-- luasocket: only its clock. Scripts open no connections.
local socket = { _VERSION = "wringer", gettime = host.gettime, sleep = host.sleep }
for _, name in ipairs({ "bind", "connect", "select", "tcp", "udp" }) do
   socket[name] = function() error("socket." .. name .. " is not there: scripts open no connections", 2) end
end

local letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
local places = {}
for nth = 1, 64 do places[byte(letters, nth)] = nth - 1 end

local function letter(value) return sub(letters, value + 1, value + 1) end

local function b64(text)
   if not text then return nil end
   return (text:gsub("..?.?", function(three)
      local a, b, c = byte(three, 1, 3)
      local bits = a * 65536 + (b or 0) * 256 + (c or 0)
      return letter(floor(bits / 262144)) .. letter(floor(bits / 4096) % 64)
         .. (b and letter(floor(bits / 64) % 64) or "=") .. (c and letter(bits % 64) or "=")
   end))
end

local function unb64(text)
   if not text then return nil end
   local kept = text:gsub("[^%w+/]", "")
   return (kept:gsub("...?.?", function(four)
      local bits = 0
      for nth = 1, 4 do bits = bits * 64 + (places[byte(four, nth) or 0] or 0) end
      return sub(char(floor(bits / 65536), floor(bits / 256) % 256, bits % 256), 1, #four - 1)
   end))
end

-- As LuaSocket's: lower case, and letters, digits and underscores alone stay.
local function escape(text)
   return (text:gsub("[^%w_]", function(c) return ("%%%02x"):format(byte(c)) end))
end

local function unescape(text)
   return (text:gsub("%%(%x%x)", function(hex) return char(tonumber(hex, 16)) end))
end

-- Bytes of integers, for struct.
local sizes = { b = 1, B = 1, h = 2, H = 2, i = 4, I = 4, l = 8, L = 8, T = 8 }

-- Calls `each(kind, size, little)` for each item of a format.
local function items(format, each)
   local little = true
   for kind, digits in format:gmatch("([%a<>=! ])(%d*)") do
      if kind == "<" or kind == "=" then little = true
      elseif kind == ">" then little = false
      elseif kind ~= "!" and kind ~= " " then
         local size = tonumber(digits) or sizes[kind]
         each(kind, size, little)
      end
   end
end

local function integer_bytes(value, size, little)
   local bytes = {}
   value = floor(value)
   for nth = 1, size do
      bytes[little and nth or size + 1 - nth] = char(value % 256)
      value = floor(value / 256)
   end
   return table.concat(bytes)
end

local function integer_of(text, signed, little)
   local value, size = 0, #text
   for nth = 1, size do
      value = value * 256 + byte(text, little and size + 1 - nth or nth)
   end
   return signed and value >= 2 ^ (8 * size - 1) and value - 2 ^ (8 * size) or value
end

local function ordered(bytes, little) return little and bytes or bytes:reverse() end

local struct = {}

function struct.pack(format, ...)
   local values, at, parts = { ... }, 0, {}
   local function add(text) parts[#parts + 1] = text end
   items(format, function(kind, size, little)
      if kind == "x" then return add("\0") end
      at = at + 1
      local value = values[at]
      if kind == "s" then add(value .. "\0")
      elseif kind == "c" then add(size == 0 and value or sub(value, 1, size or 1))
      elseif kind == "d" then add(ordered(host.double_bytes(value), little))
      elseif kind == "f" then add(ordered(host.float_bytes(value), little))
      elseif sizes[kind] then add(integer_bytes(value, size, little))
      else error("invalid format option '" .. kind .. "'", 3) end
   end)
   return table.concat(parts)
end

function struct.unpack(format, text, from)
   local at, values = from or 1, {}
   local function take(size)
      if at + size - 1 > #text then error("data string too short", 3) end
      at = at + size
      return sub(text, at - size, at - 1)
   end
   local function add(value) values[#values + 1] = value end
   items(format, function(kind, size, little)
      if kind == "x" then take(1)
      elseif kind == "s" then
         local stop = text:find("\0", at, true) or error("unfinished string in data", 3)
         add(sub(text, at, stop - 1))
         at = stop + 1
      elseif kind == "c" then add(take(size == 0 and table.remove(values) or size or 1))
      elseif kind == "d" then add(host.double_of(ordered(take(8), little)))
      elseif kind == "f" then add(host.float_of(ordered(take(4), little)))
      elseif sizes[kind] then add(integer_of(take(size), kind == kind:lower(), little))
      else error("invalid format option '" .. kind .. "'", 3) end
   end)
   add(at)
   return unpack(values)
end

function struct.size(format)
   local size = 0
   items(format, function(kind, wide)
      size = size + (kind == "d" and 8 or kind == "f" and 4 or wide or 1)
   end)
   return size
end

return {
   socket = socket,
   ["socket.core"] = socket,
   ["socket.url"] = { escape = escape, unescape = unescape },
   mime = { b64 = b64, unb64 = unb64 },
   base64 = { encode = b64, decode = unb64 },
   struct = struct,
}
