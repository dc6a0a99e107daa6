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

export const defaultStamps: Stamps = { uuid: randomUuid, now: Date.now }
