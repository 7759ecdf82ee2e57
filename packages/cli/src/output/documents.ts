// Objects as documents: JSON and YAML as the original's command line writes them.

import type { Json } from '../../api/object.js'
import { compareText } from '../../base/text-order.js'
import type { ApiObject } from '../../client/objects.js'
import { writeYaml } from '../../codec/yaml/write-yaml.js'

/** With members in order, and four spaces for each level. */
export const jsonText = (value: unknown): string => `${goJson(value, 4)}\n`

/** What would be markup in a page is written as codes. */
export const goJson = (value: unknown, indent?: number): string =>
  JSON.stringify(inOrder(value), undefined, indent).replaceAll(
    /[<>&\u2028\u2029]/g,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )

export const yamlText = (value: unknown): string => writeYaml(value as Json)

export function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).filter(([, member]) => member !== undefined)
  return Object.fromEntries(entries.sort(([a], [b]) => compareText(a, b)).map(([name, member]) => [name, inOrder(member)]))
}

/** Who owns which field fills pages, and few want to know. */
export function withoutOwners<T extends ApiObject>(object: T): T {
  if (object.metadata?.managedFields === undefined) return object
  const { managedFields: _, ...metadata } = object.metadata
  return { ...object, metadata }
}

export const listOf = (items: readonly unknown[]): object => ({ apiVersion: 'v1', items, kind: 'List', metadata: { resourceVersion: '' } })
