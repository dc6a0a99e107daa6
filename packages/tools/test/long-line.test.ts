import { closeSync, openSync, statSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { createTools } from '../src/index.ts'
import { runTool, scratch } from './bench.ts'

const isFull = process.env.SIGNALBOX_FULL !== undefined
const megabytes = isFull ? 300 : 12

it(`Read shows the beginning of a file of ${megabytes} MB in one line, and says that it goes on`, async () => {
  const root = scratch()
  const path = join(root, 'long.txt')
  const file = openSync(path, 'w')
  const block = Buffer.alloc(1_000_000, 'abcdefghi ')
  for (let count = 0; count < megabytes; count++) writeSync(file, block)
  closeSync(file)
  expect(statSync(path).size).toBe(megabytes * 1_000_000)
  const { tools, close } = createTools({ root, shell: false, ...(!isFull && { read: { maxBytes: 500_000 } }) })
  onTestFinished(close)
  const { text, isError } = await runTool(tools, 'Read', { file_path: 'long.txt' })
  expect(isError).toBe(false)
  expect(text).toMatch(/^ {5}1\t(?:abcdefghi ){200}… \(at least \d+ more characters\)\n/)
  expect(text).toContain('too long to be read whole')
  expect(text).not.toContain('empty')
  const beyond = await runTool(tools, 'Read', { file_path: 'long.txt', offset: 2 })
  expect(beyond.text).toContain('too large to reach line 2')
})
