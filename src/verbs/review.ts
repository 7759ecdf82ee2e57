// POST on kinds that are questions: checked, answered, and not kept.

import { ApiError, invalid } from '../api/api-error.js'
import type { ApiObject } from '../api/object.js'
import { inNamespace } from './create.js'
import type { Call, Engine, WriteOptions } from './engine.js'
import { trackCreate } from './managed-fields.js'
import type { Review } from './special/signatures.js'
import { reviews } from './special/special.js'

export interface Question {
  readonly object: ApiObject
  readonly options: WriteOptions
}

export async function answerReview(engine: Engine, call: Call, { object, options }: Question): Promise<ApiObject> {
  const { definition, invalidSubject, kind } = call.resource
  const tracked = trackCreate(call, inNamespace(call, object), options)
  const asked = definition.prepareCreate?.(tracked, call.rules) ?? tracked
  const errors = definition.validate?.(asked, call.rules) ?? []
  // A question is of no kind that anybody could look up, so that errors name its group alone.
  if (errors.length > 0) throw invalid({ ...invalidSubject, kind: '' }, '', errors)
  const review = (reviews as { readonly [name: string]: Review })[definition.review ?? '']
  if (review === undefined)
    throw new ApiError({ code: 501, reason: 'NotImplemented', message: `${kind} is not answered by this server`, details: {} })
  return review(engine, call, asked)
}
