import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileJournals } from 'signalbox/node'
import { describe, expect, it } from 'vitest'
import { runKilled, writeLife } from '../../support/kill-campaign.ts'

const { SIGNALBOX_FULL, SIGNALBOX_KILLS, SIGNALBOX_SEED = '1' } = process.env
const wanted = Number(SIGNALBOX_KILLS ?? (SIGNALBOX_FULL === undefined ? 250 : 5_000))

describe('kill -9 on the file store', () => {
  it('D4 D5 D6 D11 D17 effects begin at most once, results are true, and the log folds to the transcript', async () => {
    const home = await mkdtemp(join(tmpdir(), 'signalbox-kills-'))
    try {
      const imports = `import { fileJournals } from 'signalbox/node'`
      const program = await writeLife(home, imports, 'fileJournals({ folder: process.argv[2] })')
      const folder = join(home, 'sessions')
      const campaign = { program, place: folder, home, store: fileJournals({ folder }) }
      expect(await runKilled({ ...campaign, seed: Number(SIGNALBOX_SEED), wanted })).toBeGreaterThanOrEqual(wanted)
    } finally {
      await rm(home, { recursive: true, force: true })
    }
  })
})
