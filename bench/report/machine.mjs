import os from 'node:os'

export function describeMachine() {
  const cpus = os.cpus()
  return {
    cpu: cpus[0]?.model.trim() ?? 'unknown processor',
    cores: cpus.length,
    platform: `${os.type()} ${os.arch()}`,
    node: process.versions.node,
    date: new Date().toISOString().slice(0, 10),
    /** The load average over five minutes, including the bench. */
    load: os.loadavg()[1],
  }
}
