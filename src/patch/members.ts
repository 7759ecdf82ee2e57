// Members of a struct as its kind sees them: a plain struct that was left out is an empty one, a zero value that is not written is nothing.

import type { FieldTopology } from '../schema/topology.js'
import { isRecord, own } from './plain.js'

export type Members = { readonly [name: string]: unknown }

/** How a member is read from the object that holds it; undefined where it is not there. */
export type ReadMember = (field: FieldTopology, object: Members) => unknown

/** A member as the kind would write it. */
export const writtenMember: ReadMember = (field, object) => {
  const value = own(object, field.name)
  if (value === undefined || (value === null && field.implied !== undefined)) return field.implied
  return field.omitsZero && isZero(value) ? undefined : value
}

/** A member as somebody spelled it, zero or not; what was not spelled is as the kind sees it. */
export const spelledMember: ReadMember = (field, object) => {
  const value = own(object, field.name)
  return value === undefined ? field.implied : value
}

function isZero(value: unknown): boolean {
  if (value === '' || value === 0 || value === false || value === null || value === 0n) return true
  return Array.isArray(value) ? value.length === 0 : isRecord(value) && isBare(value)
}

export function isBare(value: object): boolean {
  for (const _ in value) return false
  return true
}
