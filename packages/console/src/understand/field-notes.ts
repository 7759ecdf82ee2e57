// The field managers of an object as notes for the lines of its YAML.

import type { DynamicObject } from '@cluster-apiserver/client/browser.js'
import { type FieldOwner, listManagedFields } from '@cluster-apiserver/client/objects/field-managers.js'
import type { FieldPath } from '../object/yaml-lines.js'
import type { LineNote } from '../object/yaml-view.js'
import { ageText } from '../ui/format.js'

export type FieldOwners = ReadonlyMap<string, readonly FieldOwner[]>

export const pathKey = (path: FieldPath): string => JSON.stringify(path)

export function ownersOf(object: DynamicObject): FieldOwners {
  return new Map(listManagedFields(object).flatMap(({ steps, owners }) => (steps === undefined ? [] : [[pathKey(steps), owners] as const])))
}

export function noteOf(owners: FieldOwners, path: FieldPath): LineNote | undefined {
  const found = owners.get(pathKey(path))
  if (found === undefined) return undefined
  const title = found.map(describe).join('\n')
  return { text: found.map(({ manager }) => manager).join(', '), title, kind: found.length > 1 ? 'shared' : '' }
}

export const describe = ({ manager, operation, subresource, since }: FieldOwner): string =>
  `${manager} · ${operation}${subresource === '' ? '' : ` of ${subresource}`}${since === '' ? '' : ` · ${since} (${ageText(Date.parse(since), Date.now())} ago)`}`
