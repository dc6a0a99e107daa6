/** Disables telemetry of all packages. */
Object.assign(process.env, {
  LANGSMITH_TRACING: 'false',
  MASTRA_TELEMETRY_DISABLED: '1',
  OPENAI_AGENTS_DISABLE_TRACING: '1',
})

export async function engineIn(name) {
  const { engine } = await import(`./engines/${name}.mjs`)
  return engine
}
