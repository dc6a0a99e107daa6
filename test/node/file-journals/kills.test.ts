import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileJournals } from 'signalbox/node'
import { describe, expect, it } from 'vitest'
import { runKilled, runStopped, writeLife } from '../../support/kill-campaign.ts'

const { SIGNALBOX_FULL, SIGNALBOX_KILLS, SIGNALBOX_SEED = '1' } = process.env
const wanted = Number(SIGNALBOX_KILLS ?? (SIGNALBOX_FULL === undefined ? 250 : 5_000))

describe('kill -9 on the file store', () => {
  it('D4 D5 D6 D10 D11 D17 effects begin at most once, results are true, and the log folds to the transcript', async () => {
    const home = await mkdtemp(join(tmpdir(), 'signalbox-kills-'))
    try {
      const imports = `import { fileJournals } from 'signalbox/node'`
      const program = await writeLife(home, imports, 'fileJournals({ folder: process.argv[2] })')
      const folder = join(home, 'sessions')
      const campaign = { program, place: folder, home, store: fileJournals({ folder }) }
      expect(await runKilled({ ...campaign, seed: Number(SIGNALBOX_SEED), wanted })).toBeGreaterThanOrEqual(wanted)
      // D10 D17 a process that is stopped keeps its sessions and their agents: a second one is refused
      const stops = Math.ceil(wanted / 25)
      const stopped = await runStopped({ ...campaign, seed: Number(SIGNALBOX_SEED), wanted: stops })
      expect(stopped).toBeGreaterThanOrEqual(stops)
    } finally {
      await rm(home, { recursive: true, force: true })
    }
  })
})
