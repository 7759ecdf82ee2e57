// POST on subresources that are actions: what was sent is admitted as a new object of the subresource, and then done.

import { AdmissionRequest } from '../admission/admission.js'
import type { Call } from '../api/call.js'
import type { Catalog } from '../api/catalog.js'
import type { ApiObject } from '../api/object.js'
import { inNamespace } from './create.js'
import { type Engine, upToDate } from './engine.js'
import { trackBody } from './managed-fields.js'
import type { Action } from './special/signatures.js'

export interface Acting {
  readonly act: Action
  readonly body: ApiObject
  readonly catalog: Catalog
}

export async function perform(engine: Engine, call: Call, { act, body, catalog }: Acting): Promise<ApiObject | undefined> {
  const waiting = upToDate(engine, call)
  if (waiting !== undefined) await waiting
  const placed = trackBody(call, inNamespace(call, body))
  const sent = new AdmissionRequest(call, 'CREATE', { object: placed, old: undefined })
  const admitted = sent.withObject((await engine.admission.mutate(sent)) ?? placed)
  call.throwIfAborted()
  return act(engine, call, { body: admitted.object ?? placed, catalog, validate: () => engine.admission.validate(admitted) })
}
