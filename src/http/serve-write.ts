// POST, PUT and PATCH on resources: the body becomes an object or a patch, and what was written is the answer.

import type { ApiObject } from '../api/object.js'
import { fieldValidationOf, parseCreateOptions, parsePatchOptions, parseUpdateOptions } from '../api/options/write-options.js'
import { type Promised, whenThere } from '../base/promised.js'
import { decodeBody } from '../codec/decode-body.js'
import { cannotBeHandled, strictError } from '../codec/decode-object.js'
import { allFormats, type Format, negotiateBody } from '../codec/negotiation.js'
import { create } from '../verbs/create.js'
import type { Written } from '../verbs/engine.js'
import { patch } from '../verbs/patch.js'
import { answerReview } from '../verbs/review.js'
import { update } from '../verbs/update.js'
import { withDefaults } from '../verbs/versions.js'
import { auditPatch, auditSent } from './audited-bodies.js'
import { bodyTurns } from './body-turns.js'
import { patchTypeOf, readPatch } from './patch-body.js'
import type { Answered } from './pipeline.js'
import { readBody } from './read-body.js'
import { type ObjectForm, representObject } from './represent.js'
import { send } from './respond.js'
import { servePostTo } from './serve-special.js'
import { formOf, nameMissing, type Target } from './target.js'

export async function serveCreate(target: Target): Promise<Answered> {
  const form = formOf(target)
  const format = bodyFormatOf(target)
  const options = parseCreateOptions(target.query, target.server.engine.identity)
  const call = target.call.with({ options })
  const object = decodeSent(target, { bytes: await readBody(target.exchange), format, options })
  const { review, postsTo } = call.resource.definition
  if (postsTo !== undefined) return servePostTo({ ...target, call }, form, object)
  if (review !== undefined) return serveReview({ ...target, call }, form, object)
  return sendWritten(target, form, await create(target.server.engine, call, { object }))
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
  const object = decodeSent(target, { bytes: await readBody(target.exchange), format, options })
  return sendWritten(target, form, await update(target.server.engine, target.call.with({ options }), { object }))
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
  const body = readPatch(type, bytes, exchange.isMovable)
  return sendWritten(target, form, await patch(server.engine, target.call.with({ options }), { type, ...body }))
}

function sendWritten(target: Target, form: ObjectForm, written: Written): Promised<Answered> {
  const bytes = written.result.stored?.entry.value
  if (bytes === undefined || bodyTurns.take(bytes)) return sendNow(target, form, written)
  return bodyTurns.takeLater(bytes).then(() => sendNow(target, form, written))
}

function sendNow(target: Target, form: ObjectForm, written: Written): Promised<Answered> {
  return whenThere(representObject(form, written.result), (represented): Answered => {
    send(target.exchange, { code: written.created ? 201 : 200, ...represented })
    return true
  })
}

const bodyFormatOf = ({ exchange, server }: Target): Format =>
  negotiateBody(exchange.request.headers['content-type'], { identity: server.engine.identity, formats: allFormats })

interface Sent {
  readonly bytes: Buffer
  readonly format: Format
  readonly options: { readonly fieldValidation?: string }
}

/** The body as an object of the resource's kind, with what was left out filled in. */
function decodeSent({ exchange, call }: Target, { bytes, format, options }: Sent): ApiObject {
  const resource = call.subresource?.shown ?? call.resource
  const decoded = decodeBody(format, bytes, resource, exchange.isMovable)
  const unreadable = call.subresource?.view === undefined ? resource.definition.unreadable?.(decoded.object) : undefined
  if (unreadable !== undefined) throw cannotBeHandled(resource, unreadable)
  const validation = fieldValidationOf(options)
  if (decoded.problems.length > 0 && validation === 'Strict') throw strictError(resource, decoded.strictProblems ?? decoded.problems)
  if (validation === 'Warn') for (const problem of decoded.problems) exchange.warn(problem)
  const object = call.subresource?.view === undefined ? withDefaults(call, decoded.object) : decoded.object
  if (exchange.audited) auditSent(exchange, resource, object)
  return object
}
