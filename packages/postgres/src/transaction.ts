import type { ClientLike } from './options.ts'

/** A process that is stopped in mid-transaction would keep its locks: the server ends the transaction, and others go on. */
const begin = "begin; set local idle_in_transaction_session_timeout = '5s'"

/** Runs `work` as one transaction. */
export async function transaction<T>(client: ClientLike, work: () => Promise<T>): Promise<T> {
  await client.query({ text: begin })
  try {
    const result = await work()
    await client.query({ text: 'commit' })
    return result
  } catch (error) {
    await client.query({ text: 'rollback' }).catch(() => undefined)
    throw error
  }
}
