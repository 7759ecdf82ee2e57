// The end of validation: what the kind's own expressions find is added to what other checks have found, and all of it is told at once.

import { invalid } from '../api/api-error.js'
import type { Call } from '../api/call.js'
import type { FieldError } from '../api/field-error.js'
import type { ApiObject } from '../api/object.js'
import { nowOrInPieces, Pieces } from '../base/pieces.js'

export interface Checked {
  readonly object: ApiObject
  /** Undefined for a new object. */
  readonly old: ApiObject | undefined
  readonly errors: readonly FieldError[]
}

/** Throws, at once or later, if something is wrong; else calls `then`. Undefined where all of it is done. */
export function refuseFaults(call: Call, { object, old, errors }: Checked, then: () => void): Promise<void> | undefined {
  const { definition, invalidSubject } = call.resource
  const conclude = (found: readonly FieldError[]): void => {
    if (found.length > 0) throw invalid(invalidSubject, object.metadata?.name ?? '', found)
    then()
  }
  const work = definition.expressions?.(object, old, call, errors)
  if (work === undefined) {
    conclude(errors)
    return undefined
  }
  const found = nowOrInPieces(work, new Pieces(() => call.throwIfAborted()))
  if (found instanceof Promise) return found.then((more) => conclude([...errors, ...more]))
  conclude([...errors, ...found])
  return undefined
}
