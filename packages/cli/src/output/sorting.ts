// --sort-by: sorts objects by a field, numbers and quantities by value, other values as text.

import { compareText } from '@cluster-apiserver/api/base/text-order.js'
import { CommandError } from '../command-line/errors.js'
import { evaluatePath, parseRelaxed } from './json-path.js'
import { parseQuantity } from './quantities.js'

const quantityPattern = /^[+-]?\d+(?:\.\d+)?(?:m|k|Ki|M|Mi|G|Gi|T|Ti|P|Pi|E|Ei)?$/

/** Objects without the field come first. A field that no object has is an error. */
export function sortedBy<T>(field: string, items: readonly T[], objectOf: (item: T) => unknown = (item) => item): readonly T[] {
  const path = parseRelaxed(field)
  const keyed = items.map((item) => ({ item, key: evaluatePath(path, objectOf(item))[0] }))
  if (keyed.length > 0 && keyed.every(({ key }) => key === undefined))
    throw new CommandError(`couldn't find any field with path "${asTemplate(field)}" in the list of objects`)
  return keyed.sort((a, b) => compareValues(a.key, b.key)).map(({ item }) => item)
}

const asTemplate = (field: string): string => (field.startsWith('{') ? field : `{${field.startsWith('.') ? '' : '.'}${field}}`)

export function compareValues(a: unknown, b: unknown): number {
  if (a === undefined || b === undefined) return (a === undefined ? 0 : 1) - (b === undefined ? 0 : 1)
  if (typeof a === 'number' && typeof b === 'number') return a - b
  const [x, y] = [String(a), String(b)]
  if (quantityPattern.test(x) && quantityPattern.test(y)) return parseQuantity(x) - parseQuantity(y)
  return compareText(x, y)
}
