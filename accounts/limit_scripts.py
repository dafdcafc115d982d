"""What Redis runs for `limits.RedisLimits`, in Lua: each script is one step for all processes."""

from accounts.key_records import Verdict

# Of each key a limit; two arguments for each: the amount, the window in milliseconds.
# Answer: whether it is allowed, then for each key the count before and the milliseconds that are left.
HIT = """
local counts, allowed = {}, 1
for i, key in ipairs(KEYS) do
    counts[i] = tonumber(redis.call('GET', key) or '0')
    if counts[i] >= tonumber(ARGV[2 * i - 1]) then allowed = 0 end
end
local answer = {allowed}
for i, key in ipairs(KEYS) do
    if allowed == 1 and redis.call('INCR', key) == 1 then redis.call('PEXPIRE', key, ARGV[2 * i]) end
    answer[2 * i] = counts[i]
    local left = redis.call('PTTL', key)
    answer[2 * i + 1] = left >= 0 and left or tonumber(ARGV[2 * i])
end
return answer
"""

RECORDS = "record-1"  # in the names of records; a new number whenever the fields of KeyRecord change
FORGOTTEN = "forgotten"  # stands where a record was, for a while
NO_SUCH_KEY = "unknown"  # said by the caller, who looked; never stored

# Keys: the address's window, the key's window, the key's record.
# Answer: the Verdict, the milliseconds that are left of the window that refuses, the record.
CHECK_KEY = f"""
local address_window, key_window, record_name = KEYS[1], KEYS[2], KEYS[3]
local now, permission, is_counted = tonumber(ARGV[1]), ARGV[2], ARGV[3] == '1'
local address_amount, address_length = tonumber(ARGV[4]), tonumber(ARGV[5])
local amount, premium_amount, key_length = tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8])
local loaded, lifetime = ARGV[9], ARGV[10]

local function left(window, length)
    local milliseconds = redis.call('PTTL', window)
    return milliseconds >= 0 and math.max(milliseconds, 1) or length
end
local function is_used_up(window, most)
    return is_counted and tonumber(redis.call('GET', window) or '0') >= most
end
local function count(window, length)
    if is_counted and redis.call('INCR', window) == 1 then redis.call('PEXPIRE', window, length) end
end
local function verdict(record)
    if record.is_dead then return '{Verdict.DEAD}' end
    if not record.is_enabled then return '{Verdict.DISABLED}' end
    if record.expires_at <= now then return '{Verdict.EXPIRED}' end
    for _, held in ipairs(record.permissions) do
        if held == permission then return '{Verdict.OK}' end
    end
    return '{Verdict.NOT_PERMITTED}'
end

if is_used_up(address_window, address_amount) then
    return {{'{Verdict.ADDRESS_LIMITED}', left(address_window, address_length), ''}}
end
local text = redis.call('GET', record_name)
if not text and loaded ~= '' and loaded ~= '{NO_SUCH_KEY}' then
    redis.call('SET', record_name, loaded, 'PX', lifetime)
end
if not text or text == '{FORGOTTEN}' then text = loaded end
if text == '' then return {{'{Verdict.MISS}', 0, ''}} end
if text == '{NO_SUCH_KEY}' then
    count(address_window, address_length)
    return {{'{Verdict.UNKNOWN}', 0, ''}}
end
local record = cjson.decode(text)
local said = verdict(record)
if said == '{Verdict.OK}' then
    if is_used_up(key_window, now < record.premium_until and premium_amount or amount) then
        return {{'{Verdict.KEY_LIMITED}', left(key_window, key_length), ''}}
    end
    count(key_window, key_length)
end
count(address_window, address_length)
return {{said, 0, text}}
"""
