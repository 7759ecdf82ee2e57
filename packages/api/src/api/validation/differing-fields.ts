// Lists up to ten fields in which two values of a schema differ, for errors of immutable specs.

import { listSome, shorten } from '../../base/shorten.js'
import { writeStored } from '../../schema/json/write.js'
import type { SchemaNode } from '../../schema/node.js'

const maxFields = 10

/** Slow: use it in error messages only. */
export function differingFields(node: SchemaNode, next: object, old: object, path: string): string {
  const found: string[] = []
  compare(JSON.parse(writeStored(node, next)), JSON.parse(writeStored(node, old)), path, found)
  return `these fields differ: ${listSome(found.slice(0, maxFields), found.length - maxFields)}`
}

function compare(next: unknown, old: unknown, path: string, found: string[]): void {
  if (isObject(next) && isObject(old) && Array.isArray(next) === Array.isArray(old)) {
    const isList = Array.isArray(next)
    if (isList && next.length !== (old as unknown as readonly unknown[]).length) {
      found.push(path)
      return
    }
    for (const name of new Set([...Object.keys(next), ...Object.keys(old)]))
      compare(next[name], old[name], isList ? `${path}[${name}]` : `${path}.${shorten(name)}`, found)
  } else if (next !== old) found.push(path)
}

const isObject = (value: unknown): value is { readonly [name: string]: unknown } => typeof value === 'object' && value !== null
