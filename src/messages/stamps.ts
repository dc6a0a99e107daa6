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

const idsPerHead = 0x100_0000
let head = ''
let ids = 0

/** A random head, and a number behind it: as unique as one made of chance alone, for a fraction of its price. */
function nextUuid(): string {
  if (ids === 0) head = randomUuid().slice(0, 30)
  const number = (idsPerHead + ids).toString(16).slice(1)
  ids = (ids + 1) % idsPerHead
  return head + number
}

export const defaultStamps: Stamps = { uuid: nextUuid, now: Date.now }
