import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'

const read = (name: string): string =>
  readFileSync(resolve(import.meta.dirname, '../../inspector-app/src', name), 'utf8')
const css = read('theme.css')
const colours = (rule: string): Map<string, string> => {
  const block = css.slice(css.indexOf(rule), css.indexOf('}', css.indexOf(rule)))
  return new Map([...block.matchAll(/--([\w-]+): (#[0-9a-f]{6});/g)].map(([, name, value]) => [`${name}`, `${value}`]))
}

/** The contrast ratio of the WCAG. */
function contrast(one: string, other: string): number {
  const [light, dark] = [luminance(one), luminance(other)].sort((a, b) => b - a) as [number, number]
  return (light + 0.05) / (dark + 0.05)
}

function luminance(colour: string): number {
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255
    return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  }) as [number, number, number]
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

/** The colour behind the word of a state: a part of its own. */
const tint = Number(/^\.chip \{[^}]*var\(--muted\)\) (\d+)%/m.exec(read('conversation.css'))?.[1]) / 100

function mixed(colour: string, other: string): string {
  const parts = [1, 3, 5].map((at) => {
    const [own, base] = [colour, other].map((each) => Number.parseInt(each.slice(at, at + 2), 16)) as [number, number]
    return Math.round(own * tint + base * (1 - tint))
  })
  return `#${parts.map((part) => part.toString(16).padStart(2, '0')).join('')}`
}

const inks = [
  'text',
  'muted',
  'faint',
  'accent',
  'queued',
  'shared',
  'exclusive',
  'held',
  'ok',
  'error',
  'aborted',
  'unknown',
]

describe('texts of the page have enough contrast', () => {
  it.each([
    '.inspector {',
    '.inspector:not([data-theme="light"]) {',
    '.inspector[data-theme="dark"] {',
  ])('%s', (rule) => {
    const theme = colours(rule)
    const panel = theme.get('panel') as string
    const tooFaint = inks.filter((ink) => contrast(theme.get(ink) as string, panel) < 4.5)
    expect(tooFaint).toEqual([])
    const states = inks.slice(inks.indexOf('accent')).map((ink) => [ink, theme.get(ink) as string] as const)
    const onTint = states.filter(([, colour]) => contrast(colour, mixed(colour, panel)) < 4.5)
    expect(onTint).toEqual([])
  })
})
