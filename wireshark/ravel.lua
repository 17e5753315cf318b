-- SPDX-License-Identifier: BSD-2-Clause
--
-- Shows the calls and paths that ravel found on their packets in Wireshark and tshark:
--
--     ravel export shop.sqlite --as wireshark -w shop.tsv
--     wireshark -X lua_script:ravel.lua -X lua_script1:shop.tsv shop.pcap
--
-- ravel-export(1) explains the fields. The file can also be named in Wireshark's preferences
-- (Protocols, RAVEL) or by RAVEL_TSV in the environment.
--
-- A call begins in the packet from its client's port with exactly its time. A return ends in the
-- packet back to that port with the time of the return. If the store has corrected clocks, its times
-- are not those of the capture; then a call is found by the sequence number in its id. Each call has
-- one beginning and one end, so sums over packets are sums over calls.

local ravel = Proto("ravel", "Causal path (ravel)")

local NEAR = 5 -- seconds; later, sequence numbers and ports repeat

local fields = {
    request = ProtoField.uint64("ravel.request", "Request", base.DEC, nil, nil, "In the packet that a call begins in"),
    call = ProtoField.uint32("ravel.call", "Call of the request"),
    parent = ProtoField.uint32("ravel.parent", "Parent call"),
    parent_in = ProtoField.framenum("ravel.parent_in", "Parent call begins in"),
    path = ProtoField.string("ravel.path", "Path"),
    caller = ProtoField.string("ravel.caller", "Caller"),
    callee = ProtoField.string("ravel.callee", "Callee"),
    operation = ProtoField.string("ravel.operation", "Operation"),
    probability = ProtoField.double("ravel.probability", "Probability that the parent is right"),
    request_probability = ProtoField.double("ravel.request_probability", "Probability that the whole request is right"),
    candidates = ProtoField.uint32("ravel.candidates", "Parents to choose from"),
    own = ProtoField.relative_time("ravel.own", "Own time"),
    network = ProtoField.relative_time("ravel.network", "Network's part of it"),
    causes = ProtoField.string("ravel.causes", "Causes of that"),
    latency = ProtoField.relative_time("ravel.latency", "Latency"),
    return_in = ProtoField.framenum("ravel.return_in", "Return ends in", base.NONE, frametype.RESPONSE),
    returned = ProtoField.uint64("ravel.returned", "Request whose call returns", base.DEC, nil, nil,
        "In the packet that a return ends in"),
    call_in = ProtoField.framenum("ravel.call_in", "Call begins in", base.NONE, frametype.REQUEST),
    part_of = ProtoField.uint64("ravel.part_of", "Part of request", base.DEC, nil, nil,
        "In each packet with payload of a call that is under way on its connection"),
}
ravel.fields = fields
ravel.prefs.file = Pref.string("Calls", "", "What ravel export --as wireshark wrote")

local get_time = Field.new("frame.time_epoch")
local get_length = Field.new("tcp.len")
local get_number = Field.new("tcp.seq_raw")
local get_streams = { Field.new("tcp.stream"), Field.new("udp.stream") }

local arguments = { ... }
local calls -- all, in the order of the file
local begins, ends -- lists of calls, by "PORT SECONDS.NANOSECONDS"
local by_port -- { number, call }, by port, in the order of numbers
local open -- calls under way, by connection
local shown -- by frame: { begins, ends, part_of }

-- ---------------------------------------------------------------------------------------------
-- The file

local function complain(text)
    text = "ravel: " .. text
    if gui_enabled() then
        report_failure(text)
    else
        io.stderr:write(text, "\n")
    end
end

local function split(line)
    local cells = {}
    for cell in (line .. "\t"):gmatch("([^\t]*)\t") do
        cells[#cells + 1] = cell ~= "-" and cell or false
    end
    return cells
end

-- ns as text, since Lua's numbers may have fewer digits
local function seconds(ns)
    if not ns or ns:sub(1, 1) == "-" then
        return nil
    end
    ns = ("0"):rep(10 - #ns) .. ns
    return ns:sub(1, -10) .. "." .. ns:sub(-9)
end

local function put(lists, port, time, call)
    time = seconds(time)
    if time then
        local key = port .. " " .. time
        lists[key] = lists[key] or {}
        table.insert(lists[key], call)
    end
end

local NEEDED = { "request", "call", "parent", "id", "call_sent", "call_recv", "ret_sent", "ret_recv", "own", "network",
    "probability", "request_probability", "candidates", "caller", "callee", "operation", "path" }

local function read_head(line)
    local columns = {}
    for i, name in ipairs(split(line or "")) do
        columns[name] = i
    end
    for _, name in ipairs(NEEDED) do
        if not columns[name] then
            return nil, "found no column " .. name
        end
    end
    return columns
end

-- Cells are parsed only when shown: a file may have a million lines.
local function add_call(cells, columns)
    local port, number = (cells[columns.id] or ""):match("^(%x+)%.(%x+)")
    local call = { cells = cells }
    calls[#calls + 1] = call
    if not port then
        return
    end
    port, number = tonumber(port, 16), tonumber(number, 16)
    put(begins, port, cells[columns.call_sent], call)
    put(begins, port, cells[columns.call_recv], call)
    put(ends, port, cells[columns.ret_sent], call)
    put(ends, port, cells[columns.ret_recv], call)
    by_port[port] = by_port[port] or {}
    table.insert(by_port[port], { number, call })
end

local columns
local function read_calls(file)
    local root, wrong
    columns, wrong = read_head(file:read("*l"))
    if not columns then
        return wrong
    end
    for line in file:lines() do
        local cells = split(line)
        if #cells < #NEEDED then
            return "line " .. #calls + 2 .. " has " .. #cells .. " columns"
        end
        add_call(cells, columns)
        local call = calls[#calls]
        if not cells[columns.parent] then
            root = #calls
        end
        call.root = calls[root]
        call.parent = cells[columns.parent] and calls[root + tonumber(cells[columns.parent]) - 1]
    end
    for _, list in pairs(by_port) do
        table.sort(list, function(a, b) return a[1] < b[1] end)
    end
end

local function load()
    local path = arguments[1] or os.getenv("RAVEL_TSV") or ravel.prefs.file
    calls, begins, ends, by_port, open, shown = {}, {}, {}, {}, {}, {}
    if path == "" then
        return
    end
    local file, wrong = io.open(path)
    if file then
        wrong = read_calls(file)
        wrong = wrong and path .. ": " .. wrong .. ", expected what ravel export --as wireshark writes"
        file:close()
    end
    if wrong then
        complain(wrong)
        calls, begins, ends, by_port = {}, {}, {}, {}
    end
end

function ravel.init()
    if not calls or not arguments[1] then
        load()
    end
    for _, call in ipairs(calls) do
        call.frame, call.return_frame = nil, nil
    end
    open, shown = {}, {}
end

-- ---------------------------------------------------------------------------------------------
-- The packets

-- The index of the first entry of a sorted list whose number is at least `from`.
local function first_from(list, from)
    local low, high = 1, #list + 1
    while low < high do
        local middle = math.floor((low + high) / 2)
        if list[middle][1] < from then
            low = middle + 1
        else
            high = middle
        end
    end
    return low
end

local function is_near(call, time)
    local stamp = seconds(call.cells[columns.call_sent] or call.cells[columns.call_recv])
    return stamp and math.abs(tonumber(stamp) - time) < NEAR
end

-- Calls whose first byte is in this segment, for a store with corrected clocks.
local function find_numbered(port, time)
    local list, from, length = by_port[port], get_number(), get_length()
    local found = {}
    if list and from and length then
        local i = first_from(list, from.value)
        while list[i] and list[i][1] < from.value + length.value do
            if is_near(list[i][2], time) then
                found[#found + 1] = list[i][2]
            end
            i = i + 1
        end
    end
    return found
end

-- The calls that no earlier packet was taken for: the capture may have a packet twice.
local function take(list, frame, key)
    local taken = {}
    for _, call in ipairs(list) do
        if not call[key] then
            call[key] = frame
            taken[#taken + 1] = call
        end
    end
    return taken
end

local function connection()
    for i, get_stream in ipairs(get_streams) do
        local stream = get_stream()
        if stream then
            return i .. " " .. tostring(stream)
        end
    end
end

-- The requests of the calls under way, without calls that returned in earlier packets.
local function requests_under_way(list, frame)
    local requests, known, left = {}, {}, {}
    for _, call in ipairs(list) do
        if not call.return_frame or call.return_frame >= frame then
            left[#left + 1] = call
            local request = call.cells[columns.request]
            if not known[request] then
                requests[#requests + 1] = request
                known[request] = true
            end
        end
    end
    return requests, left
end

local function look(pinfo, has_payload)
    local time = tostring(get_time().value)
    local frame = pinfo.number
    local begun = begins[pinfo.src_port .. " " .. time]
    local seen = { begins = take(begun or find_numbered(pinfo.src_port, tonumber(time)), frame, "frame") }
    seen.ends = take(ends[pinfo.dst_port .. " " .. time] or {}, frame, "return_frame")
    local key = connection()
    if key then
        local list = open[key] or {}
        for _, call in ipairs(seen.begins) do
            list[#list + 1] = call
        end
        seen.part_of, open[key] = requests_under_way(list, frame)
    end
    if not has_payload then
        seen.part_of = nil
    end
    return seen
end

-- ---------------------------------------------------------------------------------------------
-- The fields

local function duration(ns)
    local n = tonumber(ns)
    local whole = n < 0 and math.ceil(n / 1e9) or math.floor(n / 1e9)
    return NSTime.new(whole, n - whole * 1e9)
end

-- The difference of two times, both ns as text.
local function latency(cells)
    local from = cells[columns.call_sent] or cells[columns.call_recv]
    local to = cells[columns.ret_recv] or cells[columns.ret_sent]
    if not from or not to then
        return nil
    end
    local whole = tonumber(to:sub(1, -10)) - tonumber(from:sub(1, -10))
    return whole * 1e9 + tonumber(to:sub(-9)) - tonumber(from:sub(-9))
end

local function show_begin(tree, buffer, call)
    local function cell(name) return call.cells[columns[name]] end
    local sub = tree:add(ravel, buffer(0, 0))
    sub:set_text(("Causal path (ravel): request %s, call %s, %s > %s"):format(cell("request"), cell("call"),
        cell("caller"), cell("callee")))
    local function add(field, value)
        if value then
            sub:add(field, value):set_generated()
        end
    end
    add(fields.request, UInt64.new(tonumber(cell("request"))))
    add(fields.call, tonumber(cell("call")))
    add(fields.parent, cell("parent") and tonumber(cell("parent")))
    add(fields.parent_in, call.parent and call.parent.frame)
    add(fields.path, call.root.cells[columns.path])
    add(fields.caller, cell("caller"))
    add(fields.callee, cell("callee"))
    add(fields.operation, cell("operation"))
    add(fields.probability, call.parent and tonumber(cell("probability")))
    add(fields.request_probability, tonumber(call.root.cells[columns.request_probability]))
    add(fields.candidates, call.parent and tonumber(cell("candidates")))
    add(fields.own, duration(cell("own")))
    add(fields.network, cell("network") ~= "0" and duration(cell("network")))
    add(fields.causes, columns.causes and cell("causes"))
    add(fields.latency, latency(call.cells) and duration(latency(call.cells)))
    add(fields.return_in, call.return_frame)
end

local function show_end(tree, buffer, call)
    local sub = tree:add(ravel, buffer(0, 0))
    sub:set_text(("Causal path (ravel): return to call %s of request %s"):format(call.cells[columns.call],
        call.cells[columns.request]))
    sub:add(fields.returned, UInt64.new(tonumber(call.cells[columns.request]))):set_generated()
    if call.frame then
        sub:add(fields.call_in, call.frame):set_generated()
    end
end

local function show_part(tree, buffer, requests)
    local sub = tree:add(ravel, buffer(0, 0))
    sub:set_text("Causal path (ravel): part of request " .. table.concat(requests, ", "))
    for _, request in ipairs(requests) do
        sub:add(fields.part_of, UInt64.new(tonumber(request))):set_generated()
    end
end

function ravel.dissector(buffer, pinfo, tree)
    if not calls or #calls == 0 then
        return
    end
    -- Wireshark dissects a packet again whenever it shows it, in any order.
    local seen = shown[pinfo.number]
    if seen == nil then
        local length = get_length()
        seen = look(pinfo, not length or length.value > 0)
        local is_empty = #seen.begins == 0 and #seen.ends == 0 and not (seen.part_of and seen.part_of[1])
        seen = not is_empty and seen
        shown[pinfo.number] = seen
    end
    if not seen then
        return
    end
    for _, call in ipairs(seen.begins) do
        show_begin(tree, buffer, call)
    end
    for _, call in ipairs(seen.ends) do
        show_end(tree, buffer, call)
    end
    if seen.part_of and seen.part_of[1] then
        show_part(tree, buffer, seen.part_of)
    end
end

register_postdissector(ravel)
