// Requests that are too heavy for the event loop: they are carried out in another thread, and what that answers is passed on.

import type { Resource } from '../api/catalog.js'
import { nothingDrawn } from '../api/draws.js'
import type { User } from '../api/user.js'
import type { Ruling } from '../audit/policy.js'
import type { KeptParts } from '../audit/record.js'
import type { TextWriting } from '../codec/list-text.js'
import type { Annotation, BegunElsewhere, Exchange } from './exchange.js'
import type { Answered } from './pipeline.js'
import { sendRelayed } from './respond.js'

/** A request that was authenticated and allowed, as a value that can be sent to another thread. */
export interface OffloadedRequest extends BegunElsewhere {
  readonly method: string
  readonly url: string
  readonly headers: { readonly [name: string]: string | readonly string[] | undefined }
  readonly body: Uint8Array | undefined
  readonly user: User
  readonly now: number
  readonly auditId: string
  readonly remoteAddress: string
  /** What the audit log wants to know of it; undefined: nothing. */
  readonly audit: Ruling | undefined
}

export interface OffloadedAnswer {
  readonly code: number
  /** Names and values in turn. */
  readonly headers: readonly string[]
  readonly body: Uint8Array
  /** For the audit log. */
  readonly annotations: readonly Annotation[]
  /** What was sent and answered, as far as the audit log wants to know. */
  readonly audited?: KeptParts | undefined
  /** What was thrown and is no answer. */
  readonly panic?: string | undefined
}

/** Whoever can carry out requests beside the event loop. */
export interface Offload extends TextWriting {
  /** How many threads were ended because a reply did not belong to their call. */
  readonly mixedUp: number
  /** Whether requests on a resource can be carried out there. */
  serves(resource: Resource): boolean
  /** Rejects with a 429 when too many wait. Nothing is written any more when nobody wants the answer. */
  serve(request: OffloadedRequest, isWanted: () => boolean): Promise<OffloadedAnswer>
}

export async function serveOffloaded(exchange: Exchange): Promise<Answered> {
  const { offload, request, info } = exchange
  if (offload === undefined) throw new Error('there is nobody else to carry out the request')
  const answer = await offload.serve(
    {
      method: info.method,
      url: request.url ?? '/',
      headers: plainHeaders(request.headers),
      body: exchange.body,
      user: exchange.user,
      now: exchange.now,
      auditId: exchange.auditId,
      remoteAddress: exchange.remoteAddress,
      audit: exchange.audited?.ruling,
      warnings: [...exchange.warnings],
      drawn: exchange.draws?.drawn ?? nothingDrawn,
      // In memory of its own: what it may share with others would be sent along.
      answered: (exchange.answered ?? []).map((each) => ({ ...each, body: new Uint8Array(each.body) })),
    },
    () => !(exchange.isTimedOut || exchange.isGone),
  )
  exchange.takeAnnotations(answer.annotations)
  if (answer.audited !== undefined) exchange.audited?.takeOver(answer.audited)
  if (answer.panic !== undefined) exchange.lifecycle.panic(exchange, new Error(answer.panic))
  sendRelayed(exchange, answer)
  return true
}

/** Without credentials, which have done their work, and without what HTTP/2 adds under symbols. */
function plainHeaders(headers: Exchange['headers']): OffloadedRequest['headers'] {
  const { authorization: _authorization, cookie: _cookie, ...rest } = headers
  return Object.fromEntries(Object.entries(rest).filter(([name]) => !name.startsWith(':')))
}
