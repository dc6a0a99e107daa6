/** A script of Redis: it runs whole or not at all, and nothing else runs meanwhile. */
export interface Script {
  readonly text: string
  /** How many of its arguments are keys. */
  readonly keys: number
}

const touch = `redis.call('HSET', KEYS[1], 'touched', redis.call('TIME')[1])`

/** Removes a session with the agents inside it. */
const removeTree = `
local function removeTree(base)
  for _, inner in ipairs(redis.call('SMEMBERS', base .. ':agents')) do removeTree(ARGV[1] .. inner) end
  redis.call('DEL', base, base .. ':log', base .. ':alive', base .. ':notes', base .. ':bodies', base .. ':inbox', base .. ':agents')
  redis.call('ZREM', KEYS[1], string.sub(base, #ARGV[1] + 1))
end`

/**
 * Makes a token the owner, if the caller has read the whole log. Otherwise `behind`; with `claims` the earlier owner can
 * no longer write from then on, so that the caller can catch up. Sent again after a lost reply, it changes nothing.
 * `fenced` if another owner has the session around it: an earlier owner must not take an agent from the next one.
 *
 * KEYS session, log, alive, index, session around it, agents of that session.
 * ARGV token, born, records, claims, lock, hash, status, questions, open, at, owner, name, outer, token of the session
 * around it or '', bodies…
 */
export const openScript: Script = {
  keys: 6,
  text: `
local kept = redis.call('HMGET', KEYS[1], 'opened', 'born')
if kept[1] == ARGV[1] then return 'opened' end
if ARGV[14] ~= '' and redis.call('HGET', KEYS[5], 'token') ~= ARGV[14] then return 'fenced' end
local records = tonumber(ARGV[3])
if (kept[2] or '') ~= ARGV[2] or redis.call('XLEN', KEYS[2]) ~= records then
  if ARGV[4] == '1' and kept[2] == ARGV[2] then redis.call('HSET', KEYS[1], 'token', ARGV[1]) end
  return 'behind'
end
for place = 15, #ARGV do
  records = records + 1
  redis.call('XADD', KEYS[2], records .. '-0', 'at', ARGV[10], 'body', ARGV[place])
end
redis.call('HSET', KEYS[1], 'token', ARGV[1], 'opened', ARGV[1], 'status', ARGV[7], 'questions', ARGV[8],
  'open', ARGV[9], 'owner', ARGV[11])
redis.call('SET', KEYS[3], ARGV[1], 'PX', ARGV[5])
if ARGV[2] == '' then
  redis.call('HSET', KEYS[1], 'born', ARGV[1], 'name', ARGV[12], 'createdAt', ARGV[10])
  redis.call('ZADD', KEYS[4], 0, ARGV[6])
  if ARGV[13] ~= '' then
    redis.call('HSET', KEYS[1], 'outer', ARGV[13])
    redis.call('SADD', KEYS[6], ARGV[6])
  end
end
${touch}
return 'opened'`,
}

/**
 * Appends records if the token is still the owner and the log has the expected number of records. Sent again after a
 * lost reply, it changes nothing. Without a new state only the log is written: two writes would take a transaction in the
 * file of Redis.
 *
 * KEYS session, log, bodies of notes, inbox.
 * ARGV token, records, status or '' if the state is the same, questions, open, count of notes, notes…, then time and body
 * of each record.
 */
export const commitScript: Script = {
  keys: 4,
  text: `
if redis.call('HGET', KEYS[1], 'token') ~= ARGV[1] then return 'fenced' end
local expected, records, first = tonumber(ARGV[2]), redis.call('XLEN', KEYS[2]), 7 + tonumber(ARGV[6])
if records == expected + (#ARGV - first + 1) / 2 then return 'done' end
if records ~= expected then return tostring(records) end
for place = first, #ARGV, 2 do
  expected = expected + 1
  redis.call('XADD', KEYS[2], expected .. '-0', 'at', ARGV[place], 'body', ARGV[place + 1])
end
if ARGV[3] ~= '' then
  redis.call('HSET', KEYS[1], 'status', ARGV[3], 'questions', ARGV[4], 'open', ARGV[5])
  ${touch}
end
for place = 7, first - 1 do
  redis.call('LREM', KEYS[4], 0, ARGV[place])
  redis.call('HDEL', KEYS[3], ARGV[place])
end
return 'done'`,
}

/**
 * Puts a note into the inbox, unless there is one with its key. Keys of notes stay when their bodies are copied.
 *
 * KEYS session, notes, bodies, inbox. ARGV key, token, body, hash of the question or '', channel.
 */
export const postScript: Script = {
  keys: 4,
  text: `
local kept = redis.call('HMGET', KEYS[1], 'born', 'open')
if not kept[1] then return 'missing' end
local first = redis.call('HGET', KEYS[2], ARGV[1])
if first then return first == ARGV[2] and 'accepted' or 'stale' end
if ARGV[4] ~= '' and not string.find(kept[2], ARGV[4], 1, true) then return 'stale' end
redis.call('HSET', KEYS[2], ARGV[1], ARGV[2])
redis.call('HSET', KEYS[3], ARGV[1], ARGV[3])
redis.call('RPUSH', KEYS[4], ARGV[1])
redis.pcall('PUBLISH', ARGV[5], '')
return 'accepted'`,
}

/** Says that the owner is alive. KEYS session, alive. ARGV token, lock. */
export const renewScript: Script = {
  keys: 2,
  text: `
if redis.call('HGET', KEYS[1], 'token') ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[2], ARGV[1], 'PX', ARGV[2])
return 1`,
}

/** KEYS session, alive. ARGV token. */
export const releaseScript: Script = {
  keys: 2,
  text: `
if redis.call('HGET', KEYS[1], 'token') ~= ARGV[1] then return 0 end
redis.call('HDEL', KEYS[1], 'token', 'owner')
redis.call('DEL', KEYS[2])
return 1`,
}

/** KEYS index, session. ARGV the beginning of keys of sessions. */
export const removeScript: Script = {
  keys: 2,
  text: `${removeTree}
removeTree(KEYS[2])`,
}

/** Finds or removes a session that is idle by the clock of Redis. KEYS index, session. ARGV as above, seconds, 'look' or 'remove'. */
export const sweepScript: Script = {
  keys: 2,
  text: `${removeTree}
local kept = redis.call('HMGET', KEYS[2], 'status', 'outer', 'touched', 'name')
if kept[1] ~= 'idle' or kept[2] or redis.call('EXISTS', KEYS[2] .. ':alive') == 1 then return false end
if redis.call('LLEN', KEYS[2] .. ':inbox') > 0 then return false end
if tonumber(redis.call('TIME')[1]) - tonumber(kept[3]) < tonumber(ARGV[2]) then return false end
if ARGV[3] == 'remove' then removeTree(KEYS[2]) end
return kept[4]`,
}
