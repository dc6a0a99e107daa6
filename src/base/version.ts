/** The version of this package. A test compares it with the manifest. */
export const version = '0.1.0'
