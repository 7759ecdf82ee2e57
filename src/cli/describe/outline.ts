// An object as an outline: names as people write them, one field in a line, lists below their names.

import { printableLine } from '../../base/printable.js'
import { compareText } from '../../base/text-order.js'
import type { DynamicObject } from '../../client/objects.js'
import { labelEntries } from './common.js'
import { below, type Entry, heading } from './entry.js'

export function outlineEntries(object: DynamicObject): readonly Entry[] {
  const { apiVersion, kind, metadata = {}, ...rest } = object
  const { name, namespace, labels: _labels, annotations: _annotations, managedFields: _owners, ...others } = metadata
  return [
    ['Name', name ?? ''],
    ['Namespace', namespace ?? ''],
    ...labelEntries(object),
    ...fieldEntries({ apiVersion, kind, metadata: others, ...rest }),
  ]
}

function fieldEntries(value: object): readonly Entry[] {
  return Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => compareText(a, b))
    .map(([name, member]): Entry => {
      const title = titleOf(name)
      if (typeof member !== 'object' || member === null) return [title, member === null ? '<nil>' : String(member)]
      return [title, heading(Array.isArray(member) ? member.flatMap(itemEntries) : fieldEntries(member as object))]
    })
}

/** Objects of a list follow one another. */
function itemEntries(item: unknown): readonly Entry[] {
  if (typeof item === 'object' && item !== null) return Array.isArray(item) ? item.flatMap(itemEntries) : fieldEntries(item)
  return [['', below([String(item)])]]
}

const acronyms = ['API', 'URL', 'UID', 'OSB', 'GUID']

/** `creationTimestamp` to `Creation Timestamp`; what is no name of a field stays as it is. */
function titleOf(name: string): string {
  if (!/^[A-Za-z-]+$/.test(name)) return printableLine(name)
  return name
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .replaceAll(/([A-Z]+)([A-Z][a-z])/g, '$1 $2')
    .split(' ')
    .map((word) => (acronyms.includes(word.toUpperCase()) ? word.toUpperCase() : word.charAt(0).toUpperCase() + word.slice(1)))
    .join(' ')
}
