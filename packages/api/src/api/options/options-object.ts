// Kind, apiVersion and 422 error that CreateOptions, UpdateOptions, PatchOptions, DeleteOptions and ListOptions share.

import { invalid } from '../api-error.js'
import type { FieldError } from '../field-error.js'
import type { Identity } from '../identity.js'

export interface TypeMeta {
  readonly kind?: string
  readonly apiVersion?: string
}

const groupOf = (identity: Identity): string => identity.group({ stem: 'meta' })

export const typeMetaOf = (kind: string, identity: Identity): TypeMeta => ({ kind, apiVersion: `${groupOf(identity)}/v1` })

export function throwIfInvalid(kind: string, identity: Identity, errors: readonly FieldError[]): void {
  if (errors.length > 0) throw invalid({ group: groupOf(identity), kind }, '', errors)
}
