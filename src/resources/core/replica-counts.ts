// The counts in the status of workloads: none is negative, and none counts more than there are.

import { type FieldError, invalid } from '../../api/field-error.js'
import { joined } from '../../api/validation/collect.js'
import { checkNotNegative, noErrors } from '../../api/validation/fields.js'

type Counts = { readonly [name: string]: unknown }

const countOf = (status: object, name: string): number => ((status as Counts)[name] as number | undefined) ?? 0

/** Fields that are left out count nothing. */
export function checkCounts<T extends object>(status: T, names: readonly (keyof T & string)[]): readonly FieldError[] {
  let errors = noErrors
  for (const name of names) {
    const count = countOf(status, name)
    if (count < 0) errors = joined(errors, checkNotNegative(count, `status.${name}`))
  }
  return errors
}

export interface Bound<T> {
  readonly name: keyof T & string
  readonly of: keyof T & string
  /** How the report names the bound. */
  readonly shown: string
}

/** Parts are no more than their whole: ready replicas no more than replicas. */
export function checkParts<T extends object>(status: T, bounds: readonly Bound<T>[]): readonly FieldError[] {
  let errors = noErrors
  for (const { name, of, shown } of bounds) {
    const count = countOf(status, name)
    if (count > countOf(status, of)) errors = joined(errors, [invalid(`status.${name}`, count, `cannot be greater than ${shown}`)])
  }
  return errors
}

interface Collisions {
  readonly collisionCount?: number
}

/** Names that were taken are counted so that they are not tried again. */
export function checkCollisions(next: Collisions, old: Collisions): readonly FieldError[] {
  const { collisionCount } = next
  if (old.collisionCount === undefined || (collisionCount ?? -1) >= old.collisionCount) return noErrors
  return [invalid('status.collisionCount', collisionCount ?? 0, 'cannot be decremented')]
}
