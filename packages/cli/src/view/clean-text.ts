import { stripVTControlCharacters } from 'node:util'

const tabWidth = 4

// biome-ignore lint/suspicious/noControlCharactersInRegex: it is these that must not reach the terminal
const controls = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/g
/** Characters that change the direction of a line or are invisible. */
const deceptive = /[\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2060-\u2069\ufeff]/g

// biome-ignore lint/suspicious/noControlCharactersInRegex: titles, links and their like: all up to where they end
const commands = /(?:\u001b[\]PX^_]|[\u0090\u0098\u009d-\u009f]).*?(?:\u0007|\u001b\\|\u009c|$)/gm

/**
 * Makes text from a tool or a model safe for the terminal: it cannot move the cursor, set a title or a colour.
 * For a line overwritten with carriage returns, the last state is kept.
 */
export function cleanText(text: string): string {
  return lastStates(stripVTControlCharacters(text.replaceAll('\r\n', '\n').replace(commands, '')))
    .replaceAll('\t', ' '.repeat(tabWidth))
    .replace(controls, '')
    .replace(deceptive, '')
}

function lastStates(text: string): string {
  if (!text.includes('\r')) return text
  const lastState = (line: string): string => line.slice(line.replace(/\r+$/, '').lastIndexOf('\r') + 1)
  return text.split('\n').map(lastState).join('\n')
}

/** The same on one line. */
export const cleanLine = (text: string): string =>
  cleanText(text)
    .replace(/\s*\n\s*/g, ' ')
    .trim()
