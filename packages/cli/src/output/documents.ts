// JSON and YAML output with the formatting of kubectl.

import type { Json } from '@cluster-apiserver/api/api/object.js'
import { compareText } from '@cluster-apiserver/api/base/text-order.js'
import { writeYaml } from '@cluster-apiserver/api/codec/yaml/write-yaml.js'
import type { ApiObject } from '@cluster-apiserver/client/objects/objects.js'

export const jsonText = (value: unknown): string => `${goJson(value, 4)}\n`

/** JSON with sorted members; <, >, &, U+2028 and U+2029 are escaped like in Go's encoding/json. */
export const goJson = (value: unknown, indent?: number): string =>
  JSON.stringify(inOrder(value), undefined, indent).replaceAll(
    /[<>&\u2028\u2029]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )

export const yamlText = (value: unknown): string => writeYaml(value as Json)

export function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).filter(([, member]) => member !== undefined)
  return Object.fromEntries(entries.sort(([a], [b]) => compareText(a, b)).map(([name, member]) => [name, inOrder(member)]))
}

export function withoutManagedFields<T extends ApiObject>(object: T): T {
  if (object.metadata?.managedFields === undefined) return object
  const { managedFields: _, ...metadata } = object.metadata
  return { ...object, metadata }
}

export const listOf = (items: readonly unknown[]): object => ({ apiVersion: 'v1', items, kind: 'List', metadata: { resourceVersion: '' } })
