#!/usr/bin/env node
import process from 'node:process'
import { processIo } from './io.ts'
import { runCli } from './run-cli.ts'

// whoever reads may leave, as `head` does
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1))

// nobody may read what is said aside, and that must not end what is asked for
process.stderr.on('error', () => undefined)

process.exitCode = await runCli(process.argv.slice(2), processIo)
