const maxChars = 200

/** The name of a call as the API takes it, whatever the model sent. */
export const sendableName = (name: unknown): string =>
  typeof name === 'string' && name !== '' ? name.slice(0, maxChars) : 'unknown_tool'
