/** Labels for a call whose run was discarded: its result is never handed over. */
export const givenUp = { short: 'discarded', long: 'discarded with the reply that requested it' } as const
