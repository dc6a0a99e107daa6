import { readFileSync } from 'node:fs'

/** The process that started another one. */
export const parentOf = (pid: number): number =>
  Number(readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ')[1])
