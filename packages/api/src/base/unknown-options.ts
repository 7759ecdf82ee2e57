// Options that do not exist are refused: a name that is misspelt would otherwise be left out without a word, and `{ dryrun: true }` would delete.

/** Every option that there is, and no other: the compiler asks for all of them. */
export type OptionNames<T> = { readonly [name in keyof Required<T>]: true }

/** Throws a TypeError that names the option, and the one that is meant. `where`: the function that was called. */
export function refuseUnknownOptions(where: string, options: unknown, known: object): void {
  if (typeof options !== 'object' || options === null || Array.isArray(options))
    throw new TypeError(`${where}: the options must be an object`)
  for (const name in options) if (!Object.hasOwn(known, name)) throw new TypeError(`${where}: ${unknownOption(name, Object.keys(known))}`)
}

function unknownOption(name: string, known: readonly string[]): string {
  const plain = (text: string): string => text.toLowerCase().replaceAll(/[^a-z]/g, '')
  const meant = known.find((option) => plain(option) === plain(name))
  return `there is no option "${name}"; ${meant === undefined ? `those that there are: ${known.join(', ')}` : `is "${meant}" meant?`}`
}
