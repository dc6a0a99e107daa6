export function tellsRequests(text: string): string | undefined
