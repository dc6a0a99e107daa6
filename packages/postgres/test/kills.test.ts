import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { postgresJournals } from '@signalbox/postgres'
import { describe, expect, it } from 'vitest'
import { runKilled, writeLife } from '../../../test/support/kill-campaign.ts'
import { findPostgres, PostgresServer } from './postgres-server.ts'

const { SIGNALBOX_FULL, SIGNALBOX_KILLS, SIGNALBOX_SEED = '1' } = process.env
const wanted = Number(SIGNALBOX_KILLS ?? (SIGNALBOX_FULL === undefined ? 250 : 5_000))
const isThere = findPostgres() !== undefined

describe.skipIf(!isThere && process.env.CI !== 'true')('kill -9 on PostgreSQL', () => {
  it('D4 D5 D6 D11 D17 effects begin at most once, results are true, and the log folds to the transcript', async () => {
    const home = await mkdtemp(join(tmpdir(), 'signalbox-kills-'))
    const server = await PostgresServer.start()
    try {
      const imports = `import { postgresJournals } from '@signalbox/postgres'
const [connectionString, schema] = process.argv[2].split(' ')`
      const program = await writeLife(home, imports, 'postgresJournals({ connectionString, schema })')
      const store = postgresJournals({ connectionString: server.url, schema: 'kills' })
      const campaign = { program, place: `${server.url} kills`, home, store }
      const kills = await runKilled({ ...campaign, seed: Number(SIGNALBOX_SEED), wanted }).finally(() => store.end())
      expect(kills).toBeGreaterThanOrEqual(wanted)
    } finally {
      await server.end()
      await rm(home, { recursive: true, force: true })
    }
  })
})
