// Creates the JSON patch that changes one JSON value into another.

import { isEqual, isRecord, own } from '@cluster-apiserver/api/patch/json-value.js'

export interface PatchOperation {
  readonly op: string
  readonly path: string
  readonly value?: unknown
  readonly from?: string
}

/** Lists of another length are replaced as a whole. */
export function createJsonPatch(before: unknown, after: unknown, path = ''): readonly PatchOperation[] {
  if (isEqual(before, after)) return []
  if (isRecord(before) && isRecord(after)) return changedMembers(before, after, path)
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length)
    return before.flatMap((item, i) => createJsonPatch(item, after[i], `${path}/${i}`))
  return [{ op: 'replace', path, value: after }]
}

type Members = { readonly [name: string]: unknown }

/** A member with the value undefined is absent. */
function changedMembers(before: Members, after: Members, path: string): readonly PatchOperation[] {
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((name) => {
    const memberPath = `${path}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
    const value = own(after, name)
    if (value === undefined) return [{ op: 'remove', path: memberPath }]
    return Object.hasOwn(before, name) ? createJsonPatch(before[name], value, memberPath) : [{ op: 'add', path: memberPath, value }]
  })
}
