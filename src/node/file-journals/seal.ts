import { SignalboxError } from '../../base/signalbox-error.ts'
import type { Seal } from './options.ts'

/** The two sides of a seal, or none. `about` names the place of a text, so that it cannot be moved to another. */
export interface Sealer {
  readonly isSealing: boolean
  seal(text: string, about: string): Promise<string>
  open(sealed: string, about: string): Promise<string>
}

export const sealer = (seal: Seal | undefined): Sealer => ({
  isSealing: seal !== undefined,
  seal: async (text, about) => (seal === undefined ? text : await seal.encrypt(text, about)),
  async open(sealed, about) {
    if (seal === undefined) throw new SignalboxError('invalid_option', 'The journals are sealed. Pass the option seal.')
    return await seal.decrypt(sealed, about)
  },
})
