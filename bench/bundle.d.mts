export const bundles: Record<string, string>
export function bundleSize(names: string, options: { isInside: boolean }): Promise<{ minified: number; gzip: number }>
