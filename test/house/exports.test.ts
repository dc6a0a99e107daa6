import { readdirSync, readFileSync } from 'node:fs'
import * as aiSdk from 'signalbox/ai-sdk'
import * as anthropic from 'signalbox/anthropic'
import * as node from 'signalbox/node'
import * as openai from 'signalbox/openai'
import * as testing from 'signalbox/testing'
import * as transcripts from 'signalbox/transcripts'
import { describe, expect, it } from 'vitest'
import * as core from '../../src/index.ts'

const docs = ['README.md', ...readdirSync('docs').flatMap((name) => (name.endsWith('.md') ? `docs/${name}` : []))]
const words = new Set(docs.flatMap((path) => readFileSync(path, 'utf8').match(/\w+/g) ?? []))

describe('what can be imported', () => {
  it.each<[string, object]>([
    ['signalbox', core],
    ['signalbox/transcripts', transcripts],
    ['signalbox/node', node],
    ['signalbox/anthropic', anthropic],
    ['signalbox/openai', openai],
    ['signalbox/ai-sdk', aiSdk],
    ['signalbox/testing', testing],
  ])('from %s is spoken of where a user would look', (_, entry) => {
    expect(Object.keys(entry).filter((name) => !words.has(name))).toEqual([])
  })
})
