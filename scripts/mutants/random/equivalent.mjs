/** Changes that no test can notice, each with the reason: [file, the line that it changes, what it does, why]. */
export const equivalents = []
