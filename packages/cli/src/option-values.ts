import { InvalidArgumentError } from 'commander'
import { type Limits, parseRule } from 'signalbox'
import { limitNames } from 'signalbox/machines'

/** An option that may be repeated. */
export const collect = (text: string, before: readonly string[] = []): string[] => [...before, text]

/** An option that may be repeated: `Bash(npm test)`. */
export function readRule(text: string, before: readonly string[] = []): string[] {
  try {
    parseRule(text)
  } catch (error) {
    throw new InvalidArgumentError((error as Error).message)
  }
  return [...before, text]
}

/** An option that may be repeated and takes a list: `Read,Grep`. */
export const readList = (text: string, before: readonly string[] = []): string[] => [
  ...before,
  ...text.split(',').map((name) => name.trim()),
]

export function readCount(text: string): number {
  const count = Number(text)
  if (!/^\d+$/.test(text) || count < 1) throw new InvalidArgumentError('Expected an integer of at least 1.')
  return count
}

export function readPort(text: string): number {
  const port = Number(text)
  if (!/^\d+$/.test(text) || port > 65_535) throw new InvalidArgumentError('Expected an integer from 0 to 65535.')
  return port
}

export function readNumber(text: string): number {
  const number = Number(text)
  if (text.trim() === '' || !Number.isFinite(number) || number < 0) {
    throw new InvalidArgumentError('Expected a number of at least 0.')
  }
  return number
}

/** An option that may be repeated: `costUsd=2`. */
export function readLimit(text: string, before: Limits = {}): Limits {
  const [, name = '', number = ''] = /^(\w+)=(\d+(?:\.\d+)?)$/.exec(text) ?? []
  const known = limitNames.find((each) => each === name)
  if (known === undefined)
    throw new InvalidArgumentError(`Expected a name and a number, such as calls=100. Names: ${limitNames.join(', ')}.`)
  return { ...before, [known]: Number(number) }
}
