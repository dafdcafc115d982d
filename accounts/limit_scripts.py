"""What Redis runs for `redis_limits`, in Lua: each script is one step for all processes."""

from accounts.redis_connection import Script

# Of each key a limit; two arguments for each: the amount, the window in milliseconds.
# Answer: whether it is allowed, then for each key the count before and the milliseconds that are left.
HIT = Script("""
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
""")

RECORDS = "record-1"  # in the names of records; a new number whenever the fields of KeyRecord change
FORGOTTEN = "forgotten"  # stands where a record was, for a while
NO_SUCH_KEY = "unknown"  # the caller's record of a key that the database does not have; never stored
COUNTED, MISS, ADDRESS_LIMITED, KEY_LIMITED = 0, 1, 2, 3

# Keys: the key's record, the address's window, the key's window.
# Arguments: the record by which the caller decided; its lifetime in milliseconds where the caller has just read it from
# the database, else 0; the amount and the window in milliseconds of the address, then of the key (0: not counted).
# Answer: one of the numbers above, then the milliseconds that are left of the window that refuses, or, for MISS, the
# record that is cached instead ("": none).
COUNT_FOR_KEY = Script(f"""
local record, lifetime = ARGV[1], ARGV[2]
local function is_used_up(window, amount)
    return amount ~= '0' and tonumber(redis.call('GET', window) or '0') >= tonumber(amount)
end
local function left(window, length)
    local milliseconds = redis.call('PTTL', window)
    return milliseconds >= 0 and math.max(milliseconds, 1) or tonumber(length)
end
if is_used_up(KEYS[2], ARGV[3]) then return {{{ADDRESS_LIMITED}, left(KEYS[2], ARGV[4])}} end
local cached = redis.call('GET', KEYS[1])
if cached ~= record then
    if cached == '{FORGOTTEN}' then cached = '' end
    if lifetime == '0' or (cached and cached ~= '') then return {{{MISS}, cached or ''}} end
    if not cached and record ~= '{NO_SUCH_KEY}' then redis.call('SET', KEYS[1], record, 'PX', lifetime) end
end
if is_used_up(KEYS[3], ARGV[5]) then return {{{KEY_LIMITED}, left(KEYS[3], ARGV[6])}} end
for i = 2, 3 do
    if ARGV[2 * i - 1] ~= '0' and redis.call('INCR', KEYS[i]) == 1 then redis.call('PEXPIRE', KEYS[i], ARGV[2 * i]) end
end
return {{{COUNTED}, 0}}
""")
