import { z } from 'zod'

/** Keeps a processor busy: in the host's process, nothing else would run meanwhile. */
export const primes = {
  name: 'Primes',
  inputSchema: z.object({ below: z.number() }),
  isReadOnly: () => true,
  async call({ below }) {
    const found = []
    for (let n = 2; n < below; n++) if (found.every((prime) => n % prime !== 0)) found.push(n)
    return { data: `${found.length} primes below ${below}` }
  },
}

/** Takes its process down with it. */
export const unstable = {
  name: 'Unstable',
  inputSchema: z.object({}),
  async call() {
    process.exit(1)
  },
}
