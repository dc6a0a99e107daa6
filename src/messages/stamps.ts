/** Where ids and times of messages come from. */
export interface Stamps {
  uuid(): string
  now(): number
}

/** `crypto.randomUUID` is missing in pages that are not served securely. Asked each time: a look at `crypto` loads it. */
const randomUuid = (): string =>
  typeof globalThis.crypto?.randomUUID === 'function'
    ? globalThis.crypto.randomUUID()
    : 'xxxxxxxx-xxxx-4xxx-8xxx-xxxxxxxxxxxx'.replace(/x/g, () => Math.floor(Math.random() * 16).toString(16))

const idsPerTail = 0x100_0000
let tail = ''
let ids = 0

/**
 * A number, and a random tail behind it: as unique as an id of chance alone, for a fraction of its price. The number
 * comes first, as people tell ids apart by their beginning.
 */
function nextUuid(): string {
  if (ids === 0) tail = randomUuid().slice(6)
  const number = (idsPerTail + ids).toString(16).slice(1)
  ids = (ids + 1) % idsPerTail
  return number + tail
}

export const defaultStamps: Stamps = { uuid: nextUuid, now: Date.now }
