import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileJournals, type Seal } from 'signalbox/node'
import { describeJournalStore } from 'signalbox/testing'
import { describe, it } from 'vitest'

const key = randomBytes(32)
const seal: Seal = {
  encrypt(text, about) {
    const iv = randomBytes(12)
    const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(about))
    const sealed = Buffer.concat([cipher.update(text), cipher.final()])
    return Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64')
  },
  decrypt(sealed, about) {
    const data = Buffer.from(sealed, 'base64')
    const opener = createDecipheriv('aes-256-gcm', key, data.subarray(0, 12)).setAAD(Buffer.from(about))
    opener.setAuthTag(data.subarray(12, 28))
    return Buffer.concat([opener.update(data.subarray(28)), opener.final()]).toString()
  },
}

describe.each([
  ['as files', {}],
  ['as sealed files', { seal }],
])('%s', (_, options) => {
  const make = async () => {
    const folder = await mkdtemp(join(tmpdir(), 'signalbox-journals-'))
    const open = () => fileJournals({ folder, ...options })
    return { store: open(), another: open, end: () => rm(folder, { recursive: true }) }
  }
  describeJournalStore(make, { describe, it }, { secondOwner: 'locked' })
})
