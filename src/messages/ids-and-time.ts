/** The source of message ids and times. */
export interface IdsAndTime {
  uuid(): string
  now(): number
  /** A host function is currently being asked for an id or a time. */
  isBusy?(): boolean
}

/** `crypto.randomUUID` is missing in insecure pages. Checked each time, because accessing `crypto` loads it. */
const randomUuid = (): string =>
  typeof globalThis.crypto?.randomUUID === 'function'
    ? globalThis.crypto.randomUUID()
    : 'xxxxxxxx-xxxx-4xxx-8xxx-xxxxxxxxxxxx'.replace(/x/g, () => Math.floor(Math.random() * 16).toString(16))

const idsPerTail = 0x100_0000
let tail = ''
let ids = 0

/**
 * A number and a random tail: as unique as a random id, at a fraction of the cost. The number comes first, because
 * people compare the beginning of ids.
 */
function nextUuid(): string {
  if (ids === 0) tail = randomUuid().slice(6)
  const number = (idsPerTail + ids).toString(16).slice(1)
  ids = (ids + 1) % idsPerTail
  return number + tail
}

export const defaultIdsAndTime: IdsAndTime = { uuid: nextUuid, now: Date.now }
