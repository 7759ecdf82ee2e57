// The body of a POST or PUT as an object of its kind, with defaults: a pure step.

import type { Call } from '../api/call.js'
import type { ApiObject } from '../api/object.js'
import { fieldValidationOf } from '../api/options/write-options.js'
import { decodeBody } from '../codec/decode-body.js'
import { cannotBeHandled, strictError } from '../codec/decode-object.js'
import type { Format } from '../codec/negotiation.js'
import { withDefaults } from '../verbs/versions.js'

export interface SentBody {
  readonly bytes: Uint8Array
  readonly format: Format
  /** Of an object that is larger than the limit from before. */
  readonly maxBytes?: number
}

/** Problems of the body are warnings, or an error, as `fieldValidation` says. */
export function decodeSent(call: Call, { bytes, format }: SentBody): ApiObject {
  const resource = call.subresource?.shown ?? call.resource
  const hasView = call.subresource?.view !== undefined
  const decoded = decodeBody(format, bytes, resource)
  const unreadable = hasView ? undefined : resource.definition.unreadable?.(decoded.object)
  if (unreadable !== undefined) throw cannotBeHandled(resource, unreadable)
  const validation = fieldValidationOf(call.options)
  if (decoded.problems.length > 0 && validation === 'Strict') throw strictError(resource, decoded.strictProblems ?? decoded.problems)
  if (validation === 'Warn') for (const problem of decoded.problems) call.warn(problem)
  return hasView ? decoded.object : withDefaults(call, decoded.object)
}
