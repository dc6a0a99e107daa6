/** An error for a tool to throw: a sentence for the model, and a label for telemetry. */
export function toolError(message: string, label: string): Error {
  return Object.assign(new Error(message), { name: 'ToolError', telemetryMessage: label })
}
