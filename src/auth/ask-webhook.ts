// A review that is sent to somebody else's service: asked again with growing pauses while what is wrong may pass, and read back.

import { ApiError } from '../api/api-error.js'
import { SharedPieces } from '../base/pieces.js'
import { decodeJsonObject, type ExpectedType } from '../codec/decode-object.js'
import type { EndpointAnswer } from '../net/json-endpoint.js'

export interface AskedWebhook {
  /** Asks the service; rejects where it cannot be reached. */
  readonly post: (document: unknown) => Promise<EndpointAnswer>
  readonly sleep: (ms: number) => Promise<unknown>
}

export interface Review {
  readonly kind: string
  readonly apiVersion: string
}

type ReviewSchema = ExpectedType['schema']

/** Room for ten thousand groups: all of them are looked at with every request of a user. */
const mostAnswerBytes = 512 << 10
/** Longer ones take milliseconds to read: of those that come at the same time one is read in a turn of the event loop. */
const mostAtOnce = 16 << 10
const pieces = new SharedPieces()
/** It is asked so often at most, with pauses that grow. */
const mostAttempts = 5
const firstPauseMs = 500
const pauseGrows = 1.5
const mostPauseMs = 5000
const passing: ReadonlySet<number> = new Set([429, 500, 504])

/** The status of the answer, which must be of the kind and version that was sent. Rejects with one sentence. */
export async function askWebhook<Status>(service: AskedWebhook, review: Review, schema: ReviewSchema): Promise<Partial<Status>> {
  let pauseMs = firstPauseMs
  for (let attempt = 1; ; attempt++) {
    const answer = await postOnce(service, review)
    if (answer !== undefined && !mayPass(answer)) {
      if (answer.body.length > mostAtOnce && pieces.isOver) await pieces.next()
      return statusIn<Status>(answer, review, schema)
    }
    if (attempt === mostAttempts) throw new Error(answer === undefined ? 'its connection was reset' : `it answered ${answer.status}`)
    await service.sleep(answer?.retryAfter === undefined ? pauseMs : Math.min(answer.retryAfter * 1000, mostPauseMs))
    pauseMs *= pauseGrows
  }
}

const mayPass = ({ status, retryAfter }: EndpointAnswer): boolean => passing.has(status) || (status >= 400 && retryAfter !== undefined)

/** Undefined where the connection broke, which may be that of an old one. */
async function postOnce({ post }: AskedWebhook, review: Review): Promise<EndpointAnswer | undefined> {
  try {
    return await post(review)
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ECONNRESET') return undefined
    throw thrown
  }
}

/** Decoded with the schema of the kind: a field of another type (`denied: "true"`) makes the whole response count for nothing. */
function statusIn<Status>({ status: code, body }: EndpointAnswer, { kind, apiVersion }: Review, schema: ReviewSchema): Partial<Status> {
  if (code < 200 || code > 299) throw new Error(`it answered ${code}`)
  if (body.length > mostAnswerBytes) throw new Error(`its answer is longer than ${mostAnswerBytes} bytes`)
  try {
    const { status } = decodeJsonObject(body, { kind, apiVersion, schema }).object as { readonly status?: Partial<Status> }
    return status ?? {}
  } catch (thrown) {
    if (thrown instanceof ApiError) throw new Error(`its answer is no ${kind} of ${apiVersion}`, { cause: thrown })
    throw thrown
  }
}
