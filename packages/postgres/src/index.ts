export type { PoolLike, PostgresJournalsOptions } from './options.ts'
export { type PostgresJournals, postgresJournals } from './postgres-journals.ts'
