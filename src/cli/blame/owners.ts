// Who owns which field of an object, and since when: what the bookkeeping of the server says, path by path.

import type { ApiObject } from '../../client/objects.js'

export interface Owner {
  readonly manager: string
  readonly operation: string
  readonly apiVersion: string
  readonly subresource: string
  /** When it last wrote one of its fields; empty where nobody knows. */
  readonly since: string
}

export interface OwnedField {
  /** As people write it: `.spec.containers[name="web"].image`. */
  readonly path: string
  readonly value: unknown
  readonly owners: readonly Owner[]
}

type Set = { readonly [key: string]: Set }

interface Entry {
  readonly manager?: string
  readonly operation?: string
  readonly apiVersion?: string
  readonly subresource?: string
  readonly time?: string
  readonly fieldsV1?: Set
}

export function ownedFields(object: ApiObject): readonly OwnedField[] {
  const fields = new Map<string, { value: unknown; owners: Owner[] }>()
  for (const entry of (object.metadata?.managedFields ?? []) as readonly Entry[]) {
    const { manager = '', operation = '', apiVersion = '', subresource = '', time: since = '' } = entry
    for (const { path, value } of leavesOf(entry.fieldsV1 ?? {}, object, '')) {
      const field = fields.get(path) ?? { value, owners: [] }
      field.owners.push({ manager, operation, apiVersion, subresource, since })
      fields.set(path, field)
    }
  }
  return [...fields].map(([path, field]) => ({ path, ...field }))
}

/** What is owned by itself: fields without further ones in them, and items of lists. */
function* leavesOf(set: Set, value: unknown, path: string): Generator<{ readonly path: string; readonly value: unknown }> {
  const keys = Object.keys(set).filter((key) => key !== '.')
  if (keys.length === 0 && path !== '') yield { path, value }
  for (const key of keys) {
    const step = stepOf(key, value)
    if (step !== undefined) yield* leavesOf(set[key] as Set, step.value, `${path}${step.text}`)
  }
}

/** `f:name`, `k:{"name":"web"}`, `v:"text"`, `i:0`; undefined where there is nothing there any more. */
function stepOf(key: string, value: unknown): { readonly text: string; readonly value: unknown } | undefined {
  const [sort, rest] = [key.slice(0, 2), key.slice(2)]
  if (sort === 'f:') {
    const member = (value as { readonly [name: string]: unknown } | undefined)?.[rest]
    return { text: /^[\w-]+$/.test(rest) ? `.${rest}` : `[${JSON.stringify(rest)}]`, value: member }
  }
  const list = Array.isArray(value) ? (value as readonly unknown[]) : []
  if (sort === 'i:') return { text: `[${rest}]`, value: list[Number(rest)] }
  if (sort === 'v:') return { text: `[=${rest}]`, value: parsed(rest) }
  if (sort !== 'k:') return undefined
  const wanted = Object.entries(parsed(rest) as { readonly [name: string]: unknown })
  const text = wanted.map(([name, one]) => `${name}=${JSON.stringify(one)}`).join(',')
  return {
    text: `[${text}]`,
    value: list.find((item) => wanted.every(([name, one]) => (item as { readonly [name: string]: unknown })[name] === one)),
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
