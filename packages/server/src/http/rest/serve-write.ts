// POST, PUT and PATCH on resources: decodes the body, runs the verb, and responds with the written object.

import type { Call } from '@cluster-apiserver/api/api/call.js'
import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import { parseCreateOptions, parsePatchOptions, parseUpdateOptions } from '@cluster-apiserver/api/api/options/write-options.js'
import { largeProtobufBytes, largeYamlBytes } from '@cluster-apiserver/api/base/large-input.js'
import { turnBudget } from '@cluster-apiserver/api/base/turn-budget.js'
import { allFormats, type Format, negotiateBody } from '@cluster-apiserver/api/codec/content-negotiation.js'
import { create } from '../../verbs/create.js'
import { addressOf, type Engine, type Written } from '../../verbs/engine.js'
import { patch } from '../../verbs/patch.js'
import { update } from '../../verbs/update.js'
import { performReview } from '../../verbs/virtual/virtual-requests.js'
import type { Handled } from '../pipeline/filter.js'
import { auditPatch, auditRequestBody } from '../responses/audited-bodies.js'
import { type ObjectFormat, representLargeInWorker, representObject } from '../responses/representation.js'
import { send } from '../responses/send-response.js'
import { isJson, patchTypeOf, readPatch } from './patch-body.js'
import { decodeSent, readBody, type SentBody } from './read-body.js'
import { servePostTo } from './serve-actions-and-connections.js'
import { nameMissing, negotiateFormat, type Target } from './target.js'
import type { RequestSteps } from './worker-steps.js'

export async function serveCreate(target: Target): Promise<Handled> {
  const responseFormat = negotiateFormat(target)
  const format = bodyFormatOf(target)
  const options = parseCreateOptions(target.query, target.server.engine.identity)
  const call = target.call.with({ options })
  const object = await decode(target, call, format)
  const { interception } = target.server
  if (interception !== undefined && (await interception.onCreate(target.exchange, object.metadata?.name ?? ''))) return true
  const { review, postsTo } = call.resource.definition
  if (postsTo !== undefined) return servePostTo({ ...target, call }, responseFormat, object)
  if (review !== undefined) return serveReview({ ...target, call }, responseFormat, object)
  return sendWritten(target, call, responseFormat, await create(target.server.engine, call, { object }))
}

/** Reviews return the submitted object with its `status` filled in. */
async function serveReview(target: Target, responseFormat: ObjectFormat, object: ApiObject): Promise<Handled> {
  const { server, exchange, call } = target
  const review = await performReview(server.engine, call, object)
  send(exchange, { code: 201, ...(await representObject(responseFormat, { object: review })) })
  return true
}

export async function serveUpdate(target: Target): Promise<Handled> {
  const responseFormat = negotiateFormat(target)
  const options = parseUpdateOptions(target.query, target.server.engine.identity)
  const format = bodyFormatOf(target)
  const call = target.call.with({ options })
  const object = await decode(target, call, format)
  return sendWritten(target, call, responseFormat, await update(target.server.engine, call, { object }))
}

export async function servePatch(target: Target): Promise<Handled> {
  const { exchange, server } = target
  const { resource } = target.call
  const type = patchTypeOf(exchange.request.headers, resource.definition.custom !== undefined)
  if (exchange.info.name === '') throw nameMissing()
  const responseFormat = negotiateFormat(target)
  const options = parsePatchOptions(target.query, { identity: server.engine.identity, isApply: type === 'apply' })
  const bytes = await readBody(exchange)
  if (exchange.audited) auditPatch(exchange, bytes)
  const call = target.call.with({ options })
  call.noteBytes(bytes, type === 'apply' && !isJson(bytes) ? largeYamlBytes : undefined)
  const read = () => ({ type, ...readPatch(type, bytes) })
  return sendWritten(target, call, responseFormat, await patch(server.engine, call, { type, bytes, read }))
}

async function sendWritten(target: Target, call: Call, responseFormat: ObjectFormat, written: Written): Promise<Handled> {
  const representation = await representLargeInWorker(target.server, call, responseFormat, written.result)
  // All writes of one commit continue in the same event-loop iteration.
  await turnBudget.yieldIfSpent()
  send(target.exchange, { code: written.created ? 201 : 200, ...representation })
  return true
}

const bodyFormatOf = ({ exchange, server }: Target): Format =>
  negotiateBody(exchange.request.headers['content-type'], { identity: server.engine.identity, formats: allFormats })

/** Decodes the body into an object of the resource's kind, in a worker thread if it is large. */
async function decode({ exchange, server }: Target, call: Call, format: Format): Promise<ApiObject> {
  const bytes = await readBody(exchange)
  call.noteBytes(bytes, largeBytesByFormat[format])
  const object =
    call.isLarge && server.steps !== undefined
      ? await decodeInWorker(server.steps, server.engine, call, { bytes, format })
      : decodeSent(call, { bytes, format })
  // Encode a large object for the audit log in an event-loop iteration of its own.
  if (exchange.audited && call.isLarge) await server.engine.store.budget.nextTurn()
  if (exchange.audited) auditRequestBody(exchange, call.subresource?.shown ?? call.resource, object)
  return object
}

/** `maxBytes`: an object already over the size limit may be replaced by one that is not larger. */
function decodeInWorker(steps: RequestSteps, { store }: Engine, call: Call, body: SentBody): Promise<ApiObject> {
  const maxBytes = call.name === '' ? undefined : store.read(addressOf(call))?.size
  return steps.decode(call, { ...body, ...(maxBytes === undefined ? {} : { maxBytes }) })
}

const largeBytesByFormat = { json: undefined, yaml: largeYamlBytes, protobuf: largeProtobufBytes } as const
