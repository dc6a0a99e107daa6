import { spawnSync } from 'node:child_process'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { readPlainScript } from '../../src/shell/plain-script.ts'

const signs = fc.constantFrom(
  ...`a b '' "" \\ $ { } ~ = : # ! ; & | ( ) < > [ ] - , % ^ @ + . / é \` ?`.replaceAll(' ', '   ').split(''),
  '\n',
  '\t',
  '\\\n',
)

const runs = process.env.SIGNALBOX_FULL ? 100_000 : 10_000
const maxProcesses = process.env.SIGNALBOX_FULL ? 4_000 : 400

it('the words of a plain command are the words that bash parses', () => {
  let plain = 0
  fc.assert(
    fc.property(fc.array(signs, { maxLength: 10 }), (text) => {
      const script = readPlainScript(`echo ${text.join('')}`)
      if (!script.ok || plain >= maxProcesses) return
      const [{ words, inputs }, ...more] = script.commands
      const args = words.slice(1)
      if (more.length + inputs.length > 0 || args.length === 0 || args.some(({ hasGlob }) => hasGlob)) return
      plain++
      const command = `printf '%s\\0' ${text.join('')}`
      const { stdout } = spawnSync('bash', ['--noprofile', '--norc', '-c', command], { encoding: 'utf8' })
      const seen = stdout.split('\0').slice(0, -1)
      expect({ command, seen }).toEqual({ command, seen: args.map((word) => word.text) })
    }),
    { numRuns: runs },
  )
  expect(plain).toBeGreaterThan(100)
})
