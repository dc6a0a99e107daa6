#!/usr/bin/env node
import process from 'node:process'
import { processIo } from './io.ts'
import { runCli } from './run-cli.ts'

// the reader may close the pipe, as `head` does
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1))

// a closed stderr must not end the command
process.stderr.on('error', () => undefined)

process.exitCode = await runCli(process.argv.slice(2), processIo)
