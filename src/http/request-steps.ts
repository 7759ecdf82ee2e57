// The pure steps of a request at the wire that run in a worker thread if their input is large: decode a body, encode an answer.

import type { Call } from '../api/call.js'
import type { ApiObject } from '../api/object.js'
import type { WriteText } from '../codec/list-text.js'
import type { SentBody } from './decode-sent.js'
import type { ObjectForm, Represented } from './represent.js'

export interface RequestSteps {
  /** Decodes the body of a POST or PUT and fills in defaults. */
  decode(call: Call, body: SentBody): Promise<ApiObject>
  /** Encodes an object that is not stored, such as the result of a dry run. */
  represent(call: Call, form: ObjectForm, object: ApiObject): Promise<Represented>
  writeTextFor(call: Call): WriteText
}
