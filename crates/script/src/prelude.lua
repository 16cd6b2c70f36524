-- What scripts find beside what the host puts into the table wrk. The host calls the functions that this chunk returns.
-- `...`: gives a module that is built in by its name, the names of all, and the folder of the script where it has one.

local built_in, names_built_in, own_folder = ...

local next, type, tostring, tonumber, concat, sort = next, type, tostring, tonumber, table.concat, table.sort
local wrk = wrk

-- Names of the headers table that was written last, in the order in which they are written.
local order, known, names = {}, {}, 0

-- Whether `headers` has the names of the last one, and no others.
local function same(headers)
   local found = 0
   for name in next, headers do
      if not known[name] then return false end
      found = found + 1
   end
   return found == names
end

-- Host comes first, as RFC 9110 would like, and the rest by name: the order is always the same.
local function before(a, b)
   if a == "Host" or b == "Host" then return a == "Host" and b ~= "Host" end
   return tostring(a) < tostring(b)
end

local function learn(headers)
   order, known, names = {}, {}, 0
   for name in next, headers do
      names = names + 1
      order[names] = name
      known[name] = true
   end
   sort(order, before)
end

-- The pieces of a request; a request with fewer pieces than the last is joined only so far.
local pieces = {}

function wrk.format(method, path, headers, body)
   headers = headers or wrk.headers
   body = body or wrk.body
   if not headers["Host"] then headers["Host"] = wrk.headers["Host"] end
   headers["Content-Length"] = body and #body
   if not same(headers) then learn(headers) end

   pieces[1], pieces[2], pieces[3] = method or wrk.method, " ", path or wrk.path
   pieces[4] = " HTTP/1.1\r\n"
   local at = 4
   for nth = 1, names do
      local name = order[nth]
      local value = headers[name]
      if type(value) ~= "string" then value = tostring(value) end
      pieces[at + 1], pieces[at + 2], pieces[at + 3], pieces[at + 4] = name, ": ", value, "\r\n"
      at = at + 4
   end
   pieces[at + 1], pieces[at + 2] = "\r\n", body or ""
   return concat(pieces, "", 1, at + 2)
end

-- Where to connect: whatever of the host's addresses takes a connection.
function wrk.resolve(host, service)
   local addrs = wrk.lookup(host, service)
   for nth = #addrs, 1, -1 do
      if not wrk.connect(addrs[nth]) then table.remove(addrs, nth) end
   end
   wrk.addrs = addrs
end

function wrk.setup(thread)
   thread.addr = wrk.addrs[1]
   if type(setup) == "function" then setup(thread) end
end

function wrk.init(args)
   if not wrk.headers["Host"] then
      local host = wrk.host
      if host:find(":", 1, true) then host = "[" .. host .. "]" end
      if wrk.port then host = host .. ":" .. wrk.port end
      wrk.headers["Host"] = host
   end
   if type(init) == "function" then init(args) end
   local request = wrk.format()
   wrk.request = function() return request end
end

-- How many arguments a function looks at: what it does not look at need not be made.
local jit_util = require("jit.util")
local function looks_at(called)
   local about = jit_util.funcinfo(called)
   if about.isvararg or not about.params then return 3 end
   return about.params
end

local host = {}

function host.request() return (type(request) == "function" and request or wrk.request)() end

-- What is no number is no delay.
function host.delay()
   local wait = delay()
   return tonumber(wait) or 0
end

function host.response(status, headers, body) return response(status, headers, body) end

function host.defines(name) return type(_G[name]) == "function" end

function host.response_looks_at() return looks_at(response) end

function host.done(summary, latency, requests)
   if type(done) == "function" then done(summary, latency, requests) end
end

function host.flush() io.stdout:flush() end

-- A distribution in a script's hands, with the metatable that it has in wrk. A field that it has not is its own name, as
-- there; `ranked` gives the nth of all values, which is wrk2's.
function host.stats(known, percentile, length, nth, ranked)
   local stats = newproxy(true)
   local meta = getmetatable(stats)
   function known.percentile(_, p) return percentile(p) end
   function meta.__index(_, key)
      if ranked and type(key) == "number" then return ranked(key) end
      local value = known[key]
      if value == nil then return tostring(key) end
      return value
   end
   function meta.__len() return length end
   function meta.__call(_, n) return nth(n) end
   return stats
end

-- Modules that are neither loaded nor in a file: what is built in, or why there is none and what to do.
package.loaded.wrk = wrk

local is_built_in = {}
for name in names_built_in:gmatch("[^, ]+") do is_built_in[name] = true end

-- Names that are built in whose files are being loaded: "own" where the file is the user's, "system", or "lacks" once it has asked for
-- a module that is not there.
local loading = {}

-- What distributions have under a name that is built in is often the Lua half of a module in C, which cannot be loaded: then what is built
-- in stands for both. Any other mistake in a file is told, and so is whatever a user's own file lacks, but for a module's core.
local of_files = package.loaders[2]
package.loaders[2] = function(name)
   local file = of_files(name)
   if type(file) ~= "function" or not is_built_in[name] then return file end
   return function(...)
      local path = package.searchpath(name, package.path) or ""
      local is_own = path:sub(1, 2) == "./" or own_folder and path:sub(1, #own_folder) == own_folder
      loading[name] = is_own and "own" or "system"
      local fine, module = pcall(file, ...)
      local lacks = loading[name] == "lacks"
      loading[name] = nil
      if fine then return module end
      if lacks then return built_in(name) end
      error(module, 0)
   end
end

local function lacks(name)
   for whole, whose in next, loading do
      if whose == "system" or name == whole .. ".core" then loading[whole] = "lacks" end
   end
end

package.loaders[#package.loaders + 1] = function(name)
   -- A module's Lua half is given its own core or none.
   local module = not loading[name:match("^(.+)%.core$") or ""] and built_in(name) or nil
   if module ~= nil then return function() return module end end
   lacks(name)
   error("module '" .. name .. "' is not found: there is no such Lua file in package.path, and built in are " .. names_built_in
      .. ". Modules in C cannot be loaded; put one in Lua beside the script", 3)
end

return host
