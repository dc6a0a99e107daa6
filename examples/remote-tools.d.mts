import type { Tool } from 'signalbox'

export const primes: Tool
export const unstable: Tool
