import { createCipheriv, createDecipheriv, randomBytes, scryptSync } from 'node:crypto'
import { SignalboxError } from 'signalbox'
import type { Seal } from 'signalbox/node'

const version = 'v1'
const tagBytes = 16
const ivBytes = 12

/**
 * A seal with a secret that hosts and workers share: AES-256-GCM, bound to the place of the text.
 *
 * @example
 * const seal = keySeal(process.env.SIGNALBOX_SEAL ?? '')
 */
export function keySeal(secret: string): Seal {
  if (typeof secret !== 'string' || secret.length < 16)
    throw new SignalboxError('invalid_option', 'secret: expected a string of at least 16 characters.')
  const key = scryptSync(secret, 'signalbox seal', 32)
  return {
    encrypt(text, about) {
      const iv = randomBytes(ivBytes)
      const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(about))
      const sealed = Buffer.concat([iv, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
      return `${version}.${sealed.toString('base64')}`
    },
    decrypt(sealed, about) {
      const [found, text = ''] = sealed.split('.')
      const bytes = Buffer.from(text, 'base64')
      if (found !== version || bytes.length < ivBytes + tagBytes) throw new Error('It is not sealed with keySeal.')
      const iv = bytes.subarray(0, ivBytes)
      const decipher = createDecipheriv('aes-256-gcm', key, iv, { authTagLength: tagBytes })
      decipher.setAAD(Buffer.from(about)).setAuthTag(bytes.subarray(-tagBytes))
      return decipher.update(bytes.subarray(ivBytes, -tagBytes), undefined, 'utf8') + decipher.final('utf8')
    },
  }
}

/** Seals what goes through Redis, if there is a seal. With one, nothing that is not sealed is accepted. */
export class Envelope {
  readonly #seal: Seal | undefined

  constructor(seal: Seal | undefined) {
    this.#seal = seal
  }

  get isSealing(): boolean {
    return this.#seal !== undefined
  }

  async pack(value: unknown, about: string): Promise<unknown> {
    if (this.#seal === undefined) return value
    return { sealed: await this.#seal.encrypt(JSON.stringify(value), about) }
  }

  async unpack(given: unknown, about: string): Promise<unknown> {
    const { sealed } = (given ?? {}) as { sealed?: unknown }
    if (this.#seal === undefined) {
      if (sealed === undefined) return given
      throw new Error('it is sealed, and there is no option seal.')
    }
    if (typeof sealed !== 'string') throw new Error('it is not sealed.')
    return JSON.parse(await this.#seal.decrypt(sealed, about))
  }
}

export function checkSeal(seal: unknown): void {
  const { encrypt, decrypt } = (seal ?? {}) as Partial<Seal>
  if (seal === undefined || (typeof encrypt === 'function' && typeof decrypt === 'function')) return
  throw new SignalboxError(
    'invalid_option',
    'seal: expected an object with encrypt and decrypt, such as keySeal(secret).',
  )
}

export const aboutCall = (id: string): string => `call ${id}`
export const aboutOutcome = (id: string): string => `outcome ${id}`
export const aboutProgress = (id: string, n: number): string => `progress ${id} ${n}`
