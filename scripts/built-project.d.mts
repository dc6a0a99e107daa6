export function builtProject(): string
