// POST on kinds that are questions: checked, answered, and not kept.

import { AdmissionRequest } from '../admission/admission.js'
import { ApiError, invalid } from '../api/api-error.js'
import type { Call } from '../api/call.js'
import type { ApiObject } from '../api/object.js'
import { inNamespace } from './create.js'
import type { Engine } from './engine.js'
import { trackCreate } from './managed-fields.js'
import type { Review } from './special/signatures.js'
import { reviews } from './special/special.js'

export async function answerReview(engine: Engine, call: Call, object: ApiObject): Promise<ApiObject> {
  const { definition, invalidSubject, kind } = call.resource
  const tracked = trackCreate(call, inNamespace(call, object))
  const admission = new AdmissionRequest(call, 'CREATE', { object: tracked, old: undefined })
  const admitted = (await engine.admission.mutate(admission)) ?? tracked
  const asked = definition.prepareCreate?.(admitted, call) ?? admitted
  const errors = definition.validate?.(asked, call) ?? []
  // A question is of no kind that anybody could look up, so that errors name its group alone.
  if (errors.length > 0) throw invalid({ ...invalidSubject, kind: '' }, '', errors)
  await engine.admission.validate(admission.withObject(asked))
  const review = (reviews as { readonly [name: string]: Review })[definition.review ?? '']
  if (review === undefined)
    throw new ApiError({ code: 501, reason: 'NotImplemented', message: `${kind} is not answered by this server`, details: {} })
  return review(engine, call, asked)
}
