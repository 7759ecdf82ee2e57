// DELETE on resources: one object, or all that a list would show.

import { deleteOptions as deleteOptionsSchema } from '../api/meta.schema.js'
import type { ApiObject } from '../api/object.js'
import { type DeleteOptions, parseDeleteOptions } from '../api/options/delete-options.js'
import { parseListOptions } from '../api/options/list-options.js'
import { maxOptionsBytes } from '../base/most-body-bytes.js'
import { decodeBody } from '../codec/decode-body.js'
import { allFormats, negotiateBody } from '../codec/negotiation.js'
import { remove } from '../verbs/delete.js'
import { removeCollection } from '../verbs/delete-collection.js'
import { auditSent } from './audited-bodies.js'
import type { Exchange } from './exchange.js'
import type { Answered } from './pipeline.js'
import { readBody } from './read-body.js'
import { representDocument } from './represent.js'
import { represented } from './represent-large.js'
import { send } from './respond.js'
import { statusObject } from './status.js'
import { formOf, listContext, type Target } from './target.js'

export async function serveDelete(target: Target): Promise<Answered> {
  const { exchange, call } = target
  const { resource } = call
  const form = formOf(target)
  const options = await readDeleteOptions(target)
  const removal = call.with({ options })
  const deleted = await remove(target.server.engine, removal)
  const code = !deleted.removed && options.orphanDependents === false ? 202 : 200
  if (!deleted.removed || resource.definition.deleteReturnsObject) {
    send(exchange, { code, ...(await represented(target.server, removal, form, deleted.result)) })
    return true
  }
  const { subject } = resource
  const uid = (deleted.result.stored?.inAnyVersion(resource) ?? deleted.result.object)?.metadata?.uid
  const details = {
    name: exchange.info.name,
    ...(subject.group === '' ? {} : { group: subject.group }),
    kind: subject.resource,
    ...(uid === undefined ? {} : { uid }),
  }
  send(exchange, { code, ...representDocument(form, statusObject({ status: 'Success', details })) })
  return true
}

export async function serveDeleteCollection(target: Target): Promise<Answered> {
  const form = formOf(target)
  const listOptions = parseListOptions(target.query, listContext(target))
  const options = await readDeleteOptions(target)
  await removeCollection(target.server.engine, target.call.with({ options }), listOptions)
  const { subject } = target.call.resource
  const details = { ...(subject.group === '' ? {} : { group: subject.group }), kind: subject.resource }
  send(target.exchange, { code: 200, ...representDocument(form, statusObject({ status: 'Success', details })) })
  return true
}

async function readDeleteOptions(target: Target): Promise<DeleteOptions> {
  const { exchange, server, query } = target
  const identity = server.engine.identity
  const bytes = await readBody(exchange, maxOptionsBytes)
  if (bytes.length === 0) return parseDeleteOptions({ query, identity })
  const format = negotiateBody(exchange.request.headers['content-type'], { identity, formats: allFormats })
  const expected = { kind: 'DeleteOptions', apiVersion: 'v1', schema: deleteOptionsSchema, anyVersion: true }
  const { object } = decodeBody(format, bytes, expected)
  if (exchange.audited) auditOptions(exchange, object)
  return parseDeleteOptions({ query, identity, body: object })
}

function auditOptions(exchange: Exchange, object: ApiObject): void {
  const apiVersion = `${exchange.catalog.identity.group({ stem: 'meta' })}/v1`
  auditSent(exchange, { kind: 'DeleteOptions', apiVersion, schema: deleteOptionsSchema }, object)
}
