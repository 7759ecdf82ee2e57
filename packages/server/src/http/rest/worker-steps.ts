// The steps of a request that run in a worker thread if their input is large: decode the body, encode the response.

import type { Call } from '@cluster-apiserver/api/api/call.js'
import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import type { RepresentationSteps } from '../responses/representation.js'
import type { SentBody } from './read-body.js'

export interface RequestSteps extends RepresentationSteps {
  decode(call: Call, body: SentBody): Promise<ApiObject>
}
