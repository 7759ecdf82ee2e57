// Field managers of an object: metadata.managedFields by path of the field.

import type { ApiObject } from './objects.js'

export interface FieldOwner {
  readonly manager: string
  readonly operation: string
  readonly apiVersion: string
  readonly subresource: string
  readonly since: string
}

interface ManagedField {
  readonly path: string
  /** Names of members and indexes of items; undefined if an item of a list no longer exists. */
  readonly steps: readonly (string | number)[] | undefined
  readonly value: unknown
  readonly owners: readonly FieldOwner[]
}

type FieldSet = { readonly [key: string]: FieldSet }

interface Entry {
  readonly manager?: string
  readonly operation?: string
  readonly apiVersion?: string
  readonly subresource?: string
  readonly time?: string
  readonly fieldsV1?: FieldSet
}

export function listManagedFields(object: ApiObject): readonly ManagedField[] {
  const fields = new Map<string, { value: unknown; steps: ManagedField['steps']; owners: FieldOwner[] }>()
  for (const entry of (object.metadata?.managedFields ?? []) as readonly Entry[]) {
    const { manager = '', operation = '', apiVersion = '', subresource = '', time: since = '' } = entry
    for (const { path, value, steps } of leavesOf(entry.fieldsV1 ?? {}, { value: object, path: '', steps: [] })) {
      const field = fields.get(path) ?? { value, steps, owners: [] }
      field.owners.push({ manager, operation, apiVersion, subresource, since })
      fields.set(path, field)
    }
  }
  return [...fields].map(([path, field]) => ({ path, ...field }))
}

interface Position {
  readonly value: unknown
  readonly path: string
  readonly steps: ManagedField['steps']
}

function* leavesOf(set: FieldSet, { value, path, steps }: Position): Generator<Position> {
  const keys = Object.keys(set).filter((key) => key !== '.')
  if (keys.length === 0 && path !== '') yield { path, value, steps }
  for (const key of keys) {
    const step = stepOf(key, value)
    if (step === undefined) continue
    const inner = steps !== undefined && step.step !== undefined ? [...steps, step.step] : undefined
    yield* leavesOf(set[key] as FieldSet, { value: step.value, path: `${path}${step.text}`, steps: inner })
  }
}

interface Step {
  readonly text: string
  readonly value: unknown
  readonly step: string | number | undefined
}

/** Resolves a key of FieldsV1: `f:name`, `k:{"name":"web"}`, `v:"text"`, `i:0`. Undefined for other keys. */
function stepOf(key: string, value: unknown): Step | undefined {
  const [prefix, rest] = [key.slice(0, 2), key.slice(2)]
  if (prefix === 'f:') {
    const member = (value as { readonly [name: string]: unknown } | undefined)?.[rest]
    return { text: /^[\w-]+$/.test(rest) ? `.${rest}` : `[${JSON.stringify(rest)}]`, value: member, step: rest }
  }
  const list = Array.isArray(value) ? (value as readonly unknown[]) : []
  if (prefix === 'i:') return { text: `[${rest}]`, value: list[Number(rest)], step: Number(rest) }
  if (prefix === 'v:') return { text: `[=${rest}]`, value: parseJson(rest), step: indexIn(list, (item) => JSON.stringify(item) === rest) }
  if (prefix !== 'k:') return undefined
  const keyFields = Object.entries(parseJson(rest) as { readonly [name: string]: unknown })
  const text = keyFields.map(([name, expected]) => `${name}=${JSON.stringify(expected)}`).join(',')
  const step = indexIn(list, (item) =>
    keyFields.every(([name, expected]) => (item as { readonly [name: string]: unknown } | null)?.[name] === expected),
  )
  return { text: `[${text}]`, value: step === undefined ? undefined : list[step], step }
}

function indexIn(list: readonly unknown[], matches: (item: unknown) => boolean): number | undefined {
  const index = list.findIndex(matches)
  return index < 0 ? undefined : index
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
