/**
 * What was wrong with the requests of the test that runs. Not in the setup file itself, which is loaded again for each
 * test file, while the modules that it replaced stay.
 */
export const flaws: string[] = []
let isOnPurpose = false

export const sendsInvalidRequests = (): void => {
  isOnPurpose = true
}

export function takeFlaws(): { found: string[]; isOnPurpose: boolean } {
  const taken = { found: flaws.splice(0), isOnPurpose }
  isOnPurpose = false
  return taken
}
