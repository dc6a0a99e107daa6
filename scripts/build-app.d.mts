export function buildApp(names?: readonly ('page' | 'embed' | 'replay' | 'playground')[], into?: string): Promise<void>
