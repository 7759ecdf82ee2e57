// Numbers in annotations, which stand for fields of old.

import { shorten } from '../../base/shorten.js'

/** What is wrong with the annotation if it is there and no number that such a field could hold. */
export function notInt64(annotations: { readonly [name: string]: string } | undefined, name: string): string | undefined {
  const text = annotations?.[name]
  if (text === undefined) return undefined
  if (!/^[+-]?[0-9]{1,20}$/.test(text)) return `metadata.annotations[${name}]: ${JSON.stringify(shorten(text))} is not a whole number`
  return BigInt.asIntN(64, BigInt(text)) === BigInt(text)
    ? undefined
    : `metadata.annotations[${name}]: the number ${text} does not fit into int64`
}
