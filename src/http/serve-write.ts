// POST, PUT and PATCH on resources: the body becomes an object or a patch, and what was written is the answer.

import type { Call } from '../api/call.js'
import type { ApiObject } from '../api/object.js'
import { parseCreateOptions, parsePatchOptions, parseUpdateOptions } from '../api/options/write-options.js'
import { largeProtobufBytes, largeYamlBytes } from '../base/large.js'
import { type Promised, whenThere } from '../base/promised.js'
import { allFormats, type Format, negotiateBody } from '../codec/negotiation.js'
import { create } from '../verbs/create.js'
import { addressOf, type Engine, type Written } from '../verbs/engine.js'
import { patch } from '../verbs/patch.js'
import { answerReview } from '../verbs/review.js'
import { nextTurn } from '../verbs/steps.js'
import { update } from '../verbs/update.js'
import { auditPatch, auditSent } from './audited-bodies.js'
import { bodyTurns } from './body-turns.js'
import { decodeSent, type SentBody } from './decode-sent.js'
import { isJson, patchTypeOf, readPatch } from './patch-body.js'
import type { Answered } from './pipeline.js'
import { readBody } from './read-body.js'
import { type ObjectForm, representObject } from './represent.js'
import { represented } from './represent-large.js'
import type { RequestSteps } from './request-steps.js'
import { send } from './respond.js'
import { servePostTo } from './serve-special.js'
import { formOf, nameMissing, type Target } from './target.js'

export async function serveCreate(target: Target): Promise<Answered> {
  const form = formOf(target)
  const format = bodyFormatOf(target)
  const options = parseCreateOptions(target.query, target.server.engine.identity)
  const call = target.call.with({ options })
  const object = await decode(target, call, format)
  const { review, postsTo } = call.resource.definition
  if (postsTo !== undefined) return servePostTo({ ...target, call }, form, object)
  if (review !== undefined) return serveReview({ ...target, call }, form, object)
  return sendWritten(target, call, form, await create(target.server.engine, call, { object }))
}

/** A question is answered with itself. */
async function serveReview(target: Target, form: ObjectForm, object: ApiObject): Promise<Answered> {
  const { server, exchange, call } = target
  const answer = await answerReview(server.engine, call, object)
  send(exchange, { code: 201, ...(await representObject(form, { object: answer })) })
  return true
}

export async function serveUpdate(target: Target): Promise<Answered> {
  const form = formOf(target)
  const options = parseUpdateOptions(target.query, target.server.engine.identity)
  const format = bodyFormatOf(target)
  const call = target.call.with({ options })
  const object = await decode(target, call, format)
  return sendWritten(target, call, form, await update(target.server.engine, call, { object }))
}

export async function servePatch(target: Target): Promise<Answered> {
  const { exchange, server } = target
  const { resource } = target.call
  const type = patchTypeOf(exchange.request.headers, resource.definition.custom !== undefined)
  if (exchange.info.name === '') throw nameMissing()
  const form = formOf(target)
  const options = parsePatchOptions(target.query, { identity: server.engine.identity, isApply: type === 'apply' })
  const bytes = await readBody(exchange)
  if (exchange.audited) auditPatch(exchange, bytes)
  const call = target.call.with({ options })
  call.noteBytes(bytes, type === 'apply' && !isJson(bytes) ? largeYamlBytes : undefined)
  const body = call.isLarge && server.steps !== undefined ? unread : readPatch(type, bytes)
  return sendWritten(target, call, form, await patch(server.engine, call, { type, bytes, ...body }))
}

/** A worker thread parses it. */
const unread = { patch: undefined, duplicates: [] }

function sendWritten(target: Target, call: Call, form: ObjectForm, written: Written): Promised<Answered> {
  const bytes = written.result.stored?.entry.value
  if (bytes === undefined || bodyTurns.take(bytes)) return sendNow(target, call, form, written)
  return bodyTurns.takeLater(bytes).then(() => sendNow(target, call, form, written))
}

function sendNow(target: Target, call: Call, form: ObjectForm, written: Written): Promised<Answered> {
  return whenThere(represented(target.server, call, form, written.result), (answer): Answered => {
    send(target.exchange, { code: written.created ? 201 : 200, ...answer })
    return true
  })
}

const bodyFormatOf = ({ exchange, server }: Target): Format =>
  negotiateBody(exchange.request.headers['content-type'], { identity: server.engine.identity, formats: allFormats })

/** The body as an object of the resource's kind; large ones are decoded in a worker thread. */
async function decode({ exchange, server }: Target, call: Call, format: Format): Promise<ApiObject> {
  const bytes = await readBody(exchange)
  call.noteBytes(bytes, maxBytesOf[format])
  const object =
    call.isLarge && server.steps !== undefined
      ? await decodeInWorker(server.steps, server.engine, call, { bytes, format })
      : decodeSent(call, { bytes, format })
  // The audit log writes the whole object: after the turn in which it was parsed.
  if (exchange.audited && call.isLarge) await nextTurn()
  if (exchange.audited) auditSent(exchange, call.subresource?.shown ?? call.resource, object)
  return object
}

/** An object that is larger than the limit from before may be replaced by one that does not grow. */
function decodeInWorker(steps: RequestSteps, { store }: Engine, call: Call, body: SentBody): Promise<ApiObject> {
  const maxBytes = call.name === '' ? undefined : store.read(addressOf(call))?.size
  return steps.decode(call, { ...body, ...(maxBytes === undefined ? {} : { maxBytes }) })
}

const maxBytesOf = { json: undefined, yaml: largeYamlBytes, protobuf: largeProtobufBytes } as const
