import { SignalboxError } from '../errors/signalbox-error.ts'

/** A package that only some hosts need. Where it is missing, the error says what to install. */
export async function optionalPackage<Loaded>(name: string, load: () => Promise<Loaded>): Promise<Loaded> {
  try {
    return await load()
  } catch (error) {
    throw missingPackage(name, error)
  }
}

export const missingPackage = (name: string, cause: unknown): SignalboxError =>
  new SignalboxError('missing_package', `This needs the package ${name}: run \`npm install ${name}\`.`, { cause })
