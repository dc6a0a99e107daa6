import { Command } from 'commander'
import type { Io } from '../io.ts'
import type { Finish } from '../run-cli.ts'

export const demoCommand = (_io: Io, _finish: Finish): Command => new Command('demo')
