// What all options share as objects of the API: their type, and the one answer that refuses them.

import { invalid } from '../api-error.js'
import type { FieldError } from '../field-error.js'
import type { Identity } from '../identity.js'

export interface TypeMeta {
  readonly kind?: string
  readonly apiVersion?: string
}

const groupOf = (identity: Identity): string => identity.group({ stem: 'meta' })

export const typeOf = (kind: string, identity: Identity): TypeMeta => ({ kind, apiVersion: `${groupOf(identity)}/v1` })

/** Throws if there is anything to say. */
export function refuse(kind: string, identity: Identity, errors: readonly FieldError[]): void {
  if (errors.length > 0) throw invalid({ group: groupOf(identity), kind }, '', errors)
}
