/** What a tool throws when it will not or cannot do something: a sentence for the model, a label for telemetry. */
export function toolError(message: string, label: string): Error {
  return Object.assign(new Error(message), { name: 'ToolError', telemetryMessage: label })
}
