// Validation of a write: the rules of its kind, then the expressions of a custom kind, then warnings.

import { invalid } from '../api/api-error.js'
import type { Call } from '../api/call.js'
import { type FieldError, tooLong } from '../api/field-error.js'
import type { ApiObject } from '../api/object.js'
import { validateChange, validateCreation } from '../api/validation/validate-write.js'
import { mostNameBytes } from '../objects/keys.js'

/** Throws a 422 with all errors at once. Yields between expressions. `live`: undefined for a new object. */
export function* checkWrite(call: Call, next: ApiObject, live: ApiObject | undefined): Generator<undefined, void, void> {
  const { definition, invalidSubject } = call.resource
  const errors = live === undefined ? creationErrors(call, next) : changeErrors(call, next, live)
  const expressions = definition.expressions?.(next, live, call, errors)
  const found = expressions === undefined ? errors : [...errors, ...(yield* expressions)]
  if (found.length > 0) throw invalid(invalidSubject, next.metadata?.name ?? '', found)
  // Controllers write the status again and again and cannot repair the spec, so they are not warned of it.
  if (live !== undefined && call.subresource !== undefined && call.subresource.view === undefined) return
  for (const warning of definition.warnings?.(next, live, call) ?? []) call.warn(warning)
}

function creationErrors(call: Call, object: ApiObject): readonly FieldError[] {
  const found = validateCreation(call.resource.definition, object, call)
  return isNameShort(object) ? found : [...found, ...longNameErrors(call, object)]
}

function changeErrors(call: Call, next: ApiObject, old: ApiObject): readonly FieldError[] {
  const { subresource, resource } = call
  return validateChange(resource.definition, { next, old, ...(subresource === undefined ? {} : { subresource }) }, call)
}

/** Names of most kinds have 253 characters at most. */
const isNameShort = ({ metadata }: ApiObject): boolean => (metadata?.name?.length ?? 0) <= 253

/** Names of RBAC kinds may have any length for which the store has a key. */
function longNameErrors({ resource, namespace }: Call, { metadata }: ApiObject): readonly FieldError[] {
  const most = mostNameBytes(resource, namespace)
  return Buffer.byteLength(metadata?.name ?? '') > most ? [tooLong('metadata.name', most)] : []
}
