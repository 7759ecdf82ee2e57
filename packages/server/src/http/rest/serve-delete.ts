// DELETE on resources: delete and deletecollection.

import { deleteOptions as deleteOptionsSchema } from '@cluster-apiserver/api/api/meta.schema.js'
import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import { type DeleteOptions, parseDeleteOptions } from '@cluster-apiserver/api/api/options/delete-options.js'
import { parseListOptions } from '@cluster-apiserver/api/api/options/list-options.js'
import { maxOptionsBytes } from '@cluster-apiserver/api/base/size-limits.js'
import { allFormats, negotiateBody } from '@cluster-apiserver/api/codec/content-negotiation.js'
import { decodeBody } from '@cluster-apiserver/api/codec/decode-object.js'
import { remove, removeCollection } from '../../verbs/delete.js'
import type { Exchange } from '../pipeline/exchange.js'
import type { Handled } from '../pipeline/filter.js'
import { auditRequestBody } from '../responses/audited-bodies.js'
import { representDocument, representLargeInWorker } from '../responses/representation.js'
import { send } from '../responses/send-response.js'
import { statusObject } from '../responses/status.js'
import { readBody } from './read-body.js'
import { listContext, negotiateFormat, type Target } from './target.js'

export async function serveDelete(target: Target): Promise<Handled> {
  const { exchange, call } = target
  const { resource } = call
  const responseFormat = negotiateFormat(target)
  const options = await readDeleteOptions(target)
  const removal = call.with({ options })
  const deleted = await remove(target.server.engine, removal)
  const code = !deleted.removed && options.orphanDependents === false ? 202 : 200
  if (!deleted.removed || resource.definition.deleteReturnsObject) {
    send(exchange, { code, ...(await representLargeInWorker(target.server, removal, responseFormat, deleted.result)) })
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
  send(exchange, { code, ...representDocument(responseFormat, statusObject({ status: 'Success', details })) })
  return true
}

export async function serveDeleteCollection(target: Target): Promise<Handled> {
  const responseFormat = negotiateFormat(target)
  const listOptions = parseListOptions(target.query, listContext(target))
  const options = await readDeleteOptions(target)
  await removeCollection(target.server.engine, target.call.with({ options }), listOptions)
  const { subject } = target.call.resource
  const details = { ...(subject.group === '' ? {} : { group: subject.group }), kind: subject.resource }
  send(target.exchange, { code: 200, ...representDocument(responseFormat, statusObject({ status: 'Success', details })) })
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
  auditRequestBody(exchange, { kind: 'DeleteOptions', apiVersion, schema: deleteOptionsSchema }, object)
}
