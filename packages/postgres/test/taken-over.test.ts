import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { postgresJournals } from '@signalbox/postgres'
import { describe, expect, it } from 'vitest'
import { runTakenOver, writeLife } from '../../../test/support/kill-campaign.ts'
import { findPostgres, PostgresServer } from './postgres-server.ts'

const { SIGNALBOX_FULL, SIGNALBOX_STOPS, SIGNALBOX_SEED = '1' } = process.env
const wanted = Number(SIGNALBOX_STOPS ?? (SIGNALBOX_FULL === undefined ? 30 : 600))
const isThere = findPostgres() !== undefined

describe.skipIf(!isThere && process.env.CI !== 'true')('SIGSTOP on PostgreSQL', () => {
  it('D10 D17 D19 sessions and their agents are taken from a process that is stopped: effects begin once, it yields nothing when it goes on, and all runs end', async () => {
    const home = await mkdtemp(join(tmpdir(), 'signalbox-stops-'))
    const server = await PostgresServer.start()
    try {
      const imports = `import { postgresJournals } from '@signalbox/postgres'
const [connectionString, schema] = process.argv[2].split(' ')`
      const program = await writeLife(home, imports, 'postgresJournals({ connectionString, schema })')
      const store = postgresJournals({ connectionString: server.url, schema: 'stops' })
      const campaign = { program, place: `${server.url} stops`, home, store }
      const taken = await runTakenOver({ ...campaign, seed: Number(SIGNALBOX_SEED), wanted }).finally(() => store.end())
      expect(taken).toBeGreaterThanOrEqual(wanted)
    } finally {
      await server.end()
      await rm(home, { recursive: true, force: true })
    }
  })
})
