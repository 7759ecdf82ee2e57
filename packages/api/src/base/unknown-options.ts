// Rejects unknown option names: a misspelt `{ dryrun: true }` would otherwise be ignored and the call would delete.

export type OptionNames<T> = { readonly [name in keyof Required<T>]: true }

export function refuseUnknownOptions(where: string, options: unknown, known: object): void {
  if (typeof options !== 'object' || options === null || Array.isArray(options))
    throw new TypeError(`${where}: the options must be an object`)
  for (const name in options) if (!Object.hasOwn(known, name)) throw new TypeError(`${where}: ${unknownOption(name, Object.keys(known))}`)
}

function unknownOption(name: string, known: readonly string[]): string {
  const normalize = (text: string): string => text.toLowerCase().replaceAll(/[^a-z]/g, '')
  const similar = known.find((option) => normalize(option) === normalize(name))
  return `unknown option "${name}"; ${similar === undefined ? `use one of: ${known.join(', ')}` : `did you mean "${similar}"?`}`
}
